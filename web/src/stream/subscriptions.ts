import type { ClientMessage, Registry, ServerMessage } from './protocol.ts';
import { keyOf, type Target } from './view.ts';
import { Watch } from './watch.ts';

/** The registry said yes and the DAC said no: it will have been about to change. */
const RETRY_MS = 300;
/** After a longer interruption what was missed is left to the charts' past: catching up sample by sample would keep the present waiting. */
const CATCH_UP_MS = 60_000;

type Distributed<T, K extends string> = T extends unknown ? Omit<T, K> : never;

/** A message to the DAC; its number is given as it is sent. */
export type Saying = Distributed<ClientMessage, 'id'>;

/** The DAC at the other end of the connection. */
export interface Peer {
  /** What it has registered; nothing while that is not known. */
  known(): Registry | undefined;
  /** Returns the message's number. */
  send(message: Saying): number;
  /** Samples of an instance come from here on. */
  began(target: Target, now: number): void;
}

/** What is watched, and the topics that it comes under as long as there is a connection. */
export class Subscriptions {
  /** When those that were refused are asked for again. */
  retryAt = Number.POSITIVE_INFINITY;
  private readonly byKey = new Map<string, Watch>();
  private readonly byTopic = new Map<number, Watch>();
  /** Keys, not watches: whoever watches the instance when the answer comes may have it. */
  private readonly asked = new Map<number, string>();
  /** How long the last interruption was, milliseconds. */
  private away = 0;

  constructor(private readonly peer: Peer) {}

  get isEmpty(): boolean {
    return this.byKey.size === 0;
  }

  watches(): Iterable<Watch> {
    return this.byKey.values();
  }

  of(target: Target): Watch | undefined {
    return this.byKey.get(keyOf(target));
  }

  /** What comes under a topic. */
  at(topic: number): Watch | undefined {
    return this.byTopic.get(topic);
  }

  watch(target: Target): void {
    if (this.of(target)) return;
    const watch = new Watch(target);
    this.byKey.set(watch.key, watch);
    this.subscribe(watch);
  }

  unwatch(target: Target): void {
    const watch = this.of(target);
    if (!watch) return;
    this.byKey.delete(watch.key);
    this.leave(watch);
  }

  tick(now: number): void {
    if (now >= this.retryAt) this.subscribeAll();
  }

  disconnected(): void {
    this.asked.clear();
    this.byTopic.clear();
    this.retryAt = Number.POSITIVE_INFINITY;
    for (const watch of this.byKey.values()) watch.disconnected();
  }

  /** The connection is back; they are subscribed to as soon as the DAC has said what it knows. */
  reconnected(now: number, away: number): void {
    this.away = away;
    for (const watch of this.byKey.values()) watch.reconnected(now, away);
  }

  registered(registry: Registry): void {
    for (const entry of registry.instances) {
      const watch = this.of(entry);
      if (!watch) continue;
      watch.sawEntry(entry);
      if (watch.topic === undefined) continue;
      // The same name can come back as something else: with another number, or another layout.
      const { schema } = watch;
      if (entry.id !== watch.topic || entry.uuid !== schema?.uuid || entry.version !== schema.version) {
        this.leave(watch);
        watch.moved();
      }
    }
    this.subscribeAll();
  }

  subscribed(message: ServerMessage & { op: 'subscribed' }, now: number): void {
    const { topic, epoch, offset, entry, schema } = message;
    const watch = this.answered(message.id);
    watch?.subscribed(topic, epoch, offset, entry, schema, now);
    // The registry knows more of it: whether its node has lowered its rate.
    const known = this.peer.known()?.instances.find((known) => known.id === topic);
    if (known) watch?.sawEntry(known);
    if (watch?.topic === topic) {
      this.byTopic.set(topic, watch);
      this.peer.began(watch.target, now);
    } else this.peer.send({ op: 'unsubscribe', topic });
  }

  failed(id: number, code: string, message: string, now: number): void {
    const watch = this.answered(id);
    if (!watch) return;
    if (code === 'archive_error') {
      // What is live can be seen all the same.
      watch.moved();
      watch.setStatus('waiting');
      this.retryAt = now + RETRY_MS;
    } else if (code === 'unknown_instance' || code === 'node_offline') {
      watch.setStatus('absent');
      this.retryAt = now + RETRY_MS;
    } else {
      watch.setStatus('failed', message || code);
    }
  }

  /** The DAC has ended it by itself: another topic has its name, or what is stored cannot be read. */
  ended(topic: number, now: number): void {
    const watch = this.byTopic.get(topic);
    if (!watch) return;
    this.byTopic.delete(topic);
    watch.moved();
    watch.disconnected();
    this.retryAt = now + RETRY_MS;
  }

  /** Whose question has been answered, if it is still watched. */
  private answered(id: number): Watch | undefined {
    const key = this.asked.get(id);
    this.asked.delete(id);
    return key === undefined ? undefined : this.byKey.get(key);
  }

  private subscribeAll(): void {
    this.retryAt = Number.POSITIVE_INFINITY;
    for (const watch of this.byKey.values()) this.subscribe(watch);
  }

  private subscribe(watch: Watch): void {
    const known = this.peer.known();
    if (!known || watch.topic !== undefined) return;
    if (watch.status === 'failed' || [...this.asked.values()].includes(watch.key)) return;
    if (!known.instances.some((entry) => keyOf(entry) === watch.key)) {
      watch.setStatus('absent');
      return;
    }
    const resume = watch.position;
    // What the DAC still holds comes first: a chart begins with a past.
    const late = this.away > CATCH_UP_MS ? { overflow: 'latest' as const } : {};
    const place = resume === undefined ? { from: 'earliest' as const } : { resume, ...late };
    const id = this.peer.send({ op: 'subscribe', ...watch.target, ...place });
    this.asked.set(id, watch.key);
    watch.setStatus('waiting');
  }

  private leave(watch: Watch): void {
    if (watch.topic === undefined) return;
    this.byTopic.delete(watch.topic);
    this.peer.send({ op: 'unsubscribe', topic: watch.topic });
    watch.disconnected();
  }
}
