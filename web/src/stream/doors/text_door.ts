import { parseSchema, type Schema } from '@oasis/wire';
import { fetchWithToken } from '../../wire/csrf.ts';
import { isFields, listOf } from '../../wire/fields.ts';
import { batchOf, type SamplesMessage } from '../../wire/json_batch.ts';
import type { Door, DoorEvents, DoorName } from './door.ts';
import { EventFeed, type Feed, PollFeed, StreamFeed, WaitFeed } from './feed.ts';

const REGISTRY_MS = 1000;
/** Statistics are those of all nodes, so they are read less often. */
const STATISTICS_MS = 5000;
const NODES_ASKED = 4;
/** Subscriptions come in groups; one new stream serves all of them. */
const REOPEN_MS = 20;

const FEEDS = { events: EventFeed, stream: StreamFeed, wait: WaitFeed, poll: PollFeed };

interface Subscription {
  readonly topic: number;
  readonly node: string;
  readonly instance: string;
  readonly schema: Schema;
  /** Offset of the next sample. */
  offset: number;
}

type Fields = Record<string, unknown>;

/**
 * `oasis.v1` without a WebSocket: HTTP requests, and samples by one of the text doors. It answers as a DAC
 * does, so that the session does not notice.
 */
export class TextDoor implements Door {
  private readonly api: URL;
  private readonly health: URL;
  private readonly subscriptions = new Map<number, Subscription>();
  private epoch = '';
  private feed: Feed | undefined;
  private reopening: ReturnType<typeof setTimeout> | undefined;
  private watching: ReturnType<typeof setTimeout> | undefined;
  private statistics: ReturnType<typeof setTimeout> | undefined;
  private isClosed = false;

  constructor(
    page: string,
    private readonly kind: Exclude<DoorName, 'websocket'>,
    private readonly events: DoorEvents,
  ) {
    this.api = new URL('api/v1/', page);
    this.health = new URL('health', this.api);
    this.attempt(() => this.welcome());
  }

  send(text: string): void {
    const message = JSON.parse(text) as Fields & { op: string; id: number };
    this.attempt(() => this.answer(message));
  }

  close(): void {
    this.isClosed = true;
    this.feed?.close();
    clearTimeout(this.reopening);
    clearTimeout(this.watching);
    clearTimeout(this.statistics);
  }

  private async answer(message: Fields & { op: string; id: number }): Promise<void> {
    switch (message.op) {
      case 'watch':
        this.attempt(() => this.readStatistics());
        return this.watch(message.resume, true);
      case 'subscribe':
        return this.subscribe(message.id, String(message.node), String(message.instance), message.resume);
      case 'unsubscribe':
        this.subscriptions.delete(Number(message.topic));
        this.reopen();
        return;
      case 'command':
        return this.command(message);
      case 'ping': {
        const { dac_time } = await this.get(this.health);
        this.emit({ op: 'pong', id: message.id, dac_time });
      }
    }
  }

  private async welcome(): Promise<void> {
    const [{ software }, { epoch }] = await Promise.all([
      this.get(this.health),
      this.get(new URL('ledger', this.api)),
    ]);
    this.epoch = String(epoch);
    this.emit({ op: 'welcome', protocol: 1, server: software, epoch });
  }

  /** Reads changes of the registry, as long as there are some; later again. The first answer counts even without any. */
  private async watch(resume: unknown, isFirst = false): Promise<void> {
    const query = typeof resume === 'string' ? `?${new URLSearchParams({ resume })}` : '';
    const delta = await this.get(new URL(`registry${query}`, this.api));
    if (isFirst || delta.position !== resume) this.emit({ op: 'registry_delta', ...delta });
    if (this.isClosed) return;
    const next = () => this.attempt(() => this.watch(delta.position));
    this.watching = setTimeout(next, delta.more === true ? 0 : REGISTRY_MS);
  }

  private async readStatistics(): Promise<void> {
    const [{ nodes }, instances] = await Promise.all([
      this.get(new URL('nodes', this.api)),
      this.readCounts(),
    ]);
    this.emit({ op: 'statistics', nodes, instances });
    if (this.isClosed) return;
    this.statistics = setTimeout(() => this.attempt(() => this.readStatistics()), STATISTICS_MS);
  }

  /** Returns rows of statistics of the nodes that are read. */
  private async readCounts(): Promise<unknown[]> {
    const nodes = [...new Set([...this.subscriptions.values()].map(({ node }) => node))];
    // For more nodes, one answer with all is cheaper.
    const queries =
      nodes.length > NODES_ASKED ? [''] : nodes.map((node) => `?${new URLSearchParams({ node })}`);
    const answers = await Promise.all(queries.map((query) => this.get(new URL(`ledger${query}`, this.api))));
    return answers.flatMap(({ instances }) =>
      listOf(instances).flatMap(({ topic, ledger }) => (isFields(ledger) ? [rowOf(topic, ledger)] : [])),
    );
  }

  private async subscribe(id: number, node: string, instance: string, resume: unknown): Promise<void> {
    const found = await this.get(new URL(`instances?${new URLSearchParams({ node, instance })}`, this.api));
    const [entry] = found.instances as Fields[];
    if (!entry) {
      this.emit({ op: 'error', id, code: 'unknown_instance', message: '' });
      return;
    }
    const detail = await this.get(new URL(`instances/${entry.id}`, this.api));
    const topic = Number(entry.id);
    const [position] = typeof resume === 'string' ? resume.split(' ') : [`${this.epoch}:0`];
    const [epoch, offset] = position.split(':');
    const isKnown = epoch === this.epoch;
    const next = isKnown ? Number(offset) : 0;
    this.subscriptions.set(topic, {
      topic,
      node,
      instance,
      schema: parseSchema(detail.schema),
      offset: next,
    });
    this.emit({ op: 'subscribed', id, topic, epoch: this.epoch, offset: next, instance: detail });
    if (!isKnown) this.emit({ op: 'gap', topic, cause: 'epoch_changed' });
    this.reopen();
  }

  private async command({ id, op: _, ...request }: Fields & { id: number }): Promise<void> {
    const answer = await fetchWithToken(new URL('commands', this.api), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
    const body = (await answer.json()) as Fields;
    if (answer.ok) {
      this.emit({ op: 'result', id, ...body });
      return;
    }
    const code = String(body.type ?? '').replace('/problems/', '');
    this.emit({ op: 'error', id, code, message: String(body.detail ?? '') });
  }

  /** Opens another stream for the present subscriptions, each from its offset. */
  private reopen(): void {
    clearTimeout(this.reopening);
    this.reopening = setTimeout(() => {
      this.feed?.close();
      this.feed = undefined;
      if (this.isClosed || this.subscriptions.size === 0) return;
      const Kind = FEEDS[this.kind];
      this.feed = new Kind(this.api, this.query(), {
        opened: () => this.events.opened(),
        message: (data) => this.received(data),
        failed: () => this.fail(),
      });
    }, REOPEN_MS);
  }

  private query(): URLSearchParams {
    const query = new URLSearchParams({ integers: 'string', blobs: 'base64' });
    const all = [...this.subscriptions.values()];
    for (const { node, instance } of all) {
      query.append('node', node);
      query.append('instance', instance);
    }
    query.set('resume', `${this.epoch}:${all.map(({ offset }) => offset).join(',')}`);
    return query;
  }

  private received(data: string): void {
    const message = JSON.parse(data) as Fields;
    const found = [...this.subscriptions.values()].find(
      ({ node, instance }) => node === message.node && instance === message.instance,
    );
    switch (message.event) {
      case 'samples':
        if (found) this.samples(found, message as unknown as SamplesMessage, data.length);
        break;
      case 'gap': {
        if (!found) break;
        if (typeof message.to === 'number') found.offset = message.to;
        this.emit({ op: 'gap', topic: found.topic, cause: message.cause, count: message.count });
        break;
      }
      default:
        // A changed type or the end of the stream needs a new connection.
        this.fail();
    }
  }

  private samples(subscription: Subscription, message: SamplesMessage, bytes: number): void {
    const { topic, schema } = subscription;
    const batch = batchOf(message, topic, schema.metrics);
    subscription.offset = Number(batch.offset) + batch.count;
    if (message.gaps_before) this.emit({ op: 'gaps_before', topic, gaps: message.gaps_before });
    this.events.batch(topic, batch, bytes);
  }

  private emit(message: object): void {
    if (!this.isClosed) this.events.text(JSON.stringify(message));
  }

  private async get(url: URL): Promise<Fields> {
    const answer = await fetch(url, { cache: 'no-store' });
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    return (await answer.json()) as Fields;
  }

  private attempt(act: () => Promise<void>): void {
    act().catch(() => this.fail());
  }

  private fail(): void {
    if (this.isClosed) return;
    this.close();
    this.events.closed('closed', undefined);
  }
}

/** Returns a row of statistics (websocket.md, "Statistics") from a ledger. */
function rowOf(topic: unknown, { received, missing, causes }: Fields): unknown[] {
  return [topic, received, missing, 0, causes];
}
