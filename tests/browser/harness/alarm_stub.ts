import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

const DIST = fileURLToPath(new URL('../../../web/dist', import.meta.url));
const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
const POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'";

export type Json = Record<string, unknown>;

/** What the stub answers to a request of the API; undefined passes the request to the DAC. */
type Answer = { readonly status?: number; readonly body: unknown } | undefined;

/**
 * The page in front of a real DAC, whose alarms and rules are those of a test: any state, also those that a DAC reaches only
 * after hours, and answers that are late or refused.
 */
export class AlarmStub {
  /** Alarms as in `GET /api/v1/alarms`, in the order of keys. */
  readonly alarms = new Map<string, Json>();
  /** Newest first. */
  readonly journal: Json[] = [];
  /** Bodies of `POST /api/v1/alarms/actions`. */
  readonly actions: Json[] = [];
  /** `Last-Event-ID` of each stream that was opened. */
  readonly resumed: (string | undefined)[] = [];
  statistics: Json = {};
  /** Verbs of the session; undefined: as the DAC says. */
  verbs: readonly string[] | undefined;
  /** Whether the DAC has alarms. */
  hasAlarms = true;
  /** Whether streams are held back, as some proxies do. */
  isHeldBack = false;
  /** Answers of `/api/v1/rules…` by method and path. */
  rules: (method: string, path: string, body: Json) => Answer = () => ({ status: 404, body: {} });
  /** Answers of `/api/v1/notifications…`. */
  notifications: (method: string, body: Json) => Answer = () => ({ body: { destinations: [] } });
  revision = 0;
  private readonly streams = new Set<ServerResponse>();

  private constructor(
    private readonly server: Server,
    private readonly dac: URL,
  ) {}

  static async to(dac: string): Promise<AlarmStub> {
    const server = createServer();
    const stub = new AlarmStub(server, new URL(dac));
    server.on('request', (incoming, outgoing) => void stub.serve(incoming, outgoing));
    server.on('upgrade', (incoming, socket, head) => {
      const onward = connect(Number(stub.dac.port), stub.dac.hostname);
      const lines = incoming.rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
      onward.write(`${incoming.method} ${incoming.url} HTTP/1.1\r\n${lines.join('')}\r\n`);
      onward.write(head);
      socket.pipe(onward).pipe(socket);
      for (const end of [socket, onward]) end.on('error', () => end.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return stub;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  /** Changes an alarm, and sends it to all readers. */
  set(alarm: Json): void {
    this.revision++;
    const key = `${alarm.rule} ${alarm.node} ${alarm.instance}`;
    const next = { ...this.alarms.get(key), ...alarm, revision: this.revision };
    this.alarms.set(key, next);
    for (const stream of this.streams) send(stream, 'alarm', next, this.revision);
  }

  /** Writes an entry into the journal. */
  note(entry: Json): void {
    this.journal.unshift({ id: this.journal.length + 1, ...entry });
  }

  /** Ends all streams. */
  cut(): void {
    for (const stream of this.streams) stream.destroy();
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  private async serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', this.url);
    const path = url.pathname.replace('/api/v1/', '');
    if (incoming.method === 'GET' && !url.pathname.startsWith('/api/') && this.file(url.pathname, outgoing))
      return;
    if (path === 'session' && incoming.method === 'GET') {
      const answer = (await (await fetch(new URL('api/v1/session', this.dac))).json()) as Json;
      reply(outgoing, 200, { ...answer, verbs: this.verbs ?? answer.verbs, alarms: this.hasAlarms });
      return;
    }
    if (path.startsWith('alarms')) {
      await this.answerAlarms(path, url.searchParams, incoming, outgoing);
      return;
    }
    if (path.startsWith('rules')) {
      const answer = this.rules(incoming.method ?? 'GET', path, await bodyOf(incoming));
      if (answer) reply(outgoing, answer.status ?? 200, answer.body);
      return;
    }
    if (path.startsWith('notifications')) {
      const answer = this.notifications(incoming.method ?? 'GET', await bodyOf(incoming));
      if (answer) reply(outgoing, answer.status ?? 200, answer.body);
      return;
    }
    this.pass(incoming, outgoing);
  }

  private async answerAlarms(
    path: string,
    query: URLSearchParams,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<void> {
    if (!this.hasAlarms) {
      reply(outgoing, 503, { type: '/problems/no_alarms', detail: 'this DAC keeps no alarms' });
    } else if (path === 'alarms/events') this.stream(incoming, outgoing);
    else if (path === 'alarms/journal') reply(outgoing, 200, this.page(query));
    else if (path === 'alarms/statistics') reply(outgoing, 200, this.statistics);
    else if (path === 'alarms/actions') {
      const action = await bodyOf(incoming);
      const key = `${action.rule} ${action.node} ${action.instance}`;
      this.actions.push(action);
      if (action.action === 'acknowledge' && this.alarms.get(key)?.acknowledged === true) {
        reply(outgoing, 409, { type: '/problems/alarm_state', detail: 'nothing to acknowledge' });
        return;
      }
      this.act(action);
      reply(outgoing, 200, this.alarms.get(key));
    } else reply(outgoing, 200, { revision: this.revision, alarms: [...this.alarms.values()] });
  }

  private act({ action, seconds, once, comment, ...key }: Json): void {
    const { rule, node, instance } = key;
    const changes: Record<string, Json> = {
      acknowledge: { acknowledged: true, principal: 'local' },
      shelve: once ? { shelved_once: true } : { shelved_until: (Date.now() + Number(seconds) * 1000) * 1e6 },
      unshelve: { shelved_once: false, shelved_until: null },
      suppress: { suppressed: true },
      unsuppress: { suppressed: false },
      'out-of-service': { out_of_service: true },
      'in-service': { out_of_service: false },
    };
    this.set({ rule, node, instance, ...changes[String(action)], ...(comment ? { comment } : {}) });
  }

  private page(query: URLSearchParams): Json {
    const wanted = ['rule', 'node', 'instance', 'kind'].filter((name) => query.get(name));
    const after = Number(query.get('after') ?? Number.POSITIVE_INFINITY);
    const [from, to] = [Number(query.get('from') ?? 0), Number(query.get('to') ?? Number.POSITIVE_INFINITY)];
    const found = this.journal.filter(
      (entry) =>
        wanted.every((name) => entry[name] === query.get(name)) &&
        Number(entry.id) < after &&
        Number(entry.time) >= from &&
        Number(entry.time) < to,
    );
    const limit = Number(query.get('limit') ?? 100);
    const entries = found.slice(0, limit);
    return { entries, ...(found.length > limit && { next: entries.at(-1)?.id }) };
  }

  private stream(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.resumed.push(incoming.headers['last-event-id'] as string | undefined);
    if (this.isHeldBack) return;
    outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    send(outgoing, 'alarms', { revision: this.revision, alarms: [...this.alarms.values()] }, this.revision);
    this.streams.add(outgoing);
    outgoing.on('close', () => this.streams.delete(outgoing));
  }

  private file(path: string, outgoing: ServerResponse): boolean {
    const name = path === '/' ? '/index.html' : path;
    try {
      const bytes = readFileSync(DIST + name);
      outgoing.writeHead(200, {
        'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
        'content-security-policy': POLICY,
      });
      outgoing.end(bytes);
      return true;
    } catch {
      return false;
    }
  }

  private pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method, url: path, headers } = incoming;
    const { hostname, port } = this.dac;
    const onward = request({ hostname, port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  }
}

function send(to: ServerResponse, name: string, data: unknown, id: number): void {
  to.write(`event: ${name}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`);
}

function reply(to: ServerResponse, status: number, body: unknown): void {
  to.writeHead(status, { 'content-type': 'application/json' });
  to.end(JSON.stringify(body));
}

async function bodyOf(incoming: IncomingMessage): Promise<Json> {
  let text = '';
  for await (const chunk of incoming) text += String(chunk);
  return text === '' ? {} : (JSON.parse(text) as Json);
}
