import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A node that sends what a test wants: schemas, values, gaps (docs/reference/data-channel.md). */

const CONTROL = 2;
const BATCH = 1;
const HEADER = 48;
const PING_MS = 1000;

export interface PlainInstance {
  readonly name: string;
  readonly schema: { readonly uuid: string } & Record<string, unknown>;
  readonly hertz?: number;
  /** Pushed by default, or periodic with a rate. */
  readonly kind?: 'pushed' | 'periodic' | 'on-change' | 'event';
}

/** One column of a batch: bytes as they are in memory, texts, or values that are packed one by one. */
export type PlainColumn =
  | Float64Array
  | Float32Array
  | Uint8Array
  | Uint32Array
  | BigUint64Array
  | readonly string[]
  | { readonly rows: readonly Buffer[] };

/** A column of vectors of real64. */
export function vectors(rows: readonly (readonly number[])[]): PlainColumn {
  return {
    rows: rows.map((values) =>
      Buffer.concat([length(values.length), Buffer.from(Float64Array.from(values).buffer)]),
    ),
  };
}

/** A column of lists of named texts. */
export function fields(rows: readonly (readonly (readonly [name: string, value: string])[])[]): PlainColumn {
  return { rows: rows.map((list) => Buffer.concat([length(list.length), ...list.flat().map(text)])) };
}

export class PlainNode {
  /** The commands that it has received. */
  readonly commands: Record<string, unknown>[] = [];
  private readonly topics = new Map<string, number>();
  private readonly sequences = new Map<string, bigint>();
  private readonly dropped = new Map<string, Record<string, number>>();
  private pinging: ReturnType<typeof setInterval> | undefined;

  private constructor(private readonly socket: Socket) {}

  /** Starts a node, registers all its instances, and pings now and then. */
  static async start(
    dac: string,
    name: string,
    instances: readonly PlainInstance[],
    pingMs = PING_MS,
  ): Promise<PlainNode> {
    const [host, port] = dac.split(':');
    const socket = connect(Number(port), host);
    await once(socket, 'connect');
    socket.setNoDelay(true);
    const node = new PlainNode(socket);
    const registered = node.listen();
    node.say({
      op: 'hello',
      protocol: 1,
      node: {
        name,
        uuid: randomUUID(),
        run: randomUUID(),
        host: 'test',
        software: 'plain node',
        pid: process.pid,
      },
    });
    node.say({
      op: 'register',
      types: [...new Map(instances.map(({ schema }) => [schema.uuid, schema])).values()],
      instances: instances.map(({ name: instance, schema, hertz, kind }) => ({
        name: instance,
        type: schema.uuid,
        kind: kind ?? (hertz === undefined ? 'pushed' : 'periodic'),
        ...(hertz === undefined ? {} : { hertz }),
        enabled: true,
      })),
    });
    await registered;
    const ping = () =>
      node.say({ op: 'ping', node_time: Date.now() * 1e6, clock_offset_ns: 500_000, round_trip_ns: 500_000 });
    ping();
    node.pinging = setInterval(ping, pingMs);
    return node;
  }

  /** Sends samples at these times (milliseconds since 1970), after `dropped` lost ones. */
  flush(instance: string, times: readonly number[], columns: readonly PlainColumn[], dropped = 0): boolean {
    const body = encodeColumns(times, columns);
    return this.batch(
      instance,
      times.length,
      columns.length + 1,
      BigInt(Date.now()) * 1_000_000n,
      body,
      dropped,
    );
  }

  /** Reports samples that are dropped before the next batch, by the causes of the data channel, besides those reported before. */
  count(instance: string, dropped: Readonly<Record<string, number>>): void {
    const all = this.dropped.get(instance) ?? { ring: 0, spool: 0 };
    for (const [cause, count] of Object.entries(dropped)) all[cause] = (all[cause] ?? 0) + count;
    this.dropped.set(instance, all);
    const sent = Number(this.sequences.get(instance) ?? 1n) - 1;
    const lost = Object.values(dropped).reduce((sum, count) => sum + count, 0);
    const topic = this.topics.get(instance);
    this.say({ op: 'counters', instances: [{ topic, taken: sent + lost, sent, dropped: all }] });
  }

  /** Sends encoded columns; times count from `time`, nanoseconds since 1970. */
  send(instance: string, samples: number, time: bigint, directory: Buffer, body: Buffer): boolean {
    return this.batch(instance, samples, directory.length, time, Buffer.concat([directory, body]), 0);
  }

  private batch(
    instance: string,
    samples: number,
    columns: number,
    nodeTime: bigint,
    body: Buffer,
    dropped: number,
  ): boolean {
    const first = (this.sequences.get(instance) ?? 1n) + BigInt(dropped);
    this.sequences.set(instance, first + BigInt(samples));
    const header = Buffer.alloc(HEADER);
    header.writeUInt8(1, 0);
    header.writeUInt8(1, 1);
    header.writeUInt32LE(this.topics.get(instance) ?? 0, 4);
    header.writeBigUInt64LE(first, 8);
    header.writeBigUInt64LE(nodeTime, 24);
    header.writeUInt32LE(dropped, 40);
    header.writeUInt16LE(samples, 44);
    header.writeUInt16LE(columns, 46);
    return this.frame(BATCH, Buffer.concat([header, body]));
  }

  /** Leaves the DAC. Samples that are sent afterwards go nowhere. */
  async stop(): Promise<void> {
    clearInterval(this.pinging);
    if (this.socket.closed) return;
    const closed = once(this.socket, 'close');
    this.socket.end();
    await closed;
  }

  private say(message: object): void {
    this.frame(CONTROL, Buffer.from(JSON.stringify(message)));
  }

  private frame(kind: number, body: Uint8Array): boolean {
    // A timer of a fleet may fire while one of its nodes leaves: a write after the end would be an error of the socket.
    if (this.socket.writableEnded) return false;
    const head = Buffer.alloc(5);
    head.writeUInt32LE(body.length + 1, 0);
    head.writeUInt8(kind, 4);
    return this.socket.write(Buffer.concat([head, body]));
  }

  /** Reads messages of the DAC; resolves when all instances have their numbers. */
  private listen(): Promise<void> {
    let waiting = Buffer.alloc(0);
    return new Promise((resolve, reject) => {
      this.socket.on('data', (chunk) => {
        waiting = Buffer.concat([waiting, chunk]);
        while (waiting.length >= 4 && waiting.length >= 4 + waiting.readUInt32LE(0)) {
          const end = 4 + waiting.readUInt32LE(0);
          const message = JSON.parse(waiting.subarray(5, end).toString());
          waiting = waiting.subarray(end);
          if (message.op === 'registered') {
            for (const { instance, topic } of message.topics) this.topics.set(instance, topic);
            resolve();
          } else if (message.op === 'refused') {
            reject(new Error(`refused: ${message.code}: ${message.message}`));
          } else if (message.op === 'command') {
            const { id, hertz } = message;
            this.commands.push(message);
            this.say({
              op: 'result',
              id,
              done: { hertz: hertz ?? null, enabled: message.command !== 'disable' },
            });
          }
        }
      });
    });
  }
}

/** Encodes directory and columns after the header, each column aligned to its width. */
function encodeColumns(times: readonly number[], columns: readonly PlainColumn[]): Buffer {
  const directory = Buffer.from([
    0,
    ...columns.map((column) => (isTexts(column) || isPacked(column) ? 4 : 0)),
  ]);
  const nanoseconds = BigUint64Array.from(times, (time) => BigInt(Math.round(time * 1000)) * 1000n);
  const parts: Buffer[] = [directory];
  let at = HEADER + directory.length;
  for (const column of [nanoseconds, ...columns]) {
    const width = isTexts(column) || isPacked(column) ? 1 : column.BYTES_PER_ELEMENT;
    const padding = Buffer.alloc((width - (at % width)) % width);
    const bytes = isTexts(column)
      ? Buffer.concat(column.map(text))
      : isPacked(column)
        ? Buffer.concat(column.rows)
        : Buffer.from(column.buffer, column.byteOffset, column.byteLength);
    parts.push(padding, bytes);
    at += padding.length + bytes.length;
  }
  return Buffer.concat(parts);
}

function isTexts(column: PlainColumn): column is readonly string[] {
  return Array.isArray(column);
}

function isPacked(column: PlainColumn): column is { readonly rows: readonly Buffer[] } {
  return 'rows' in column;
}

/** Encodes texts of up to 16,383 bytes. */
function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([length(bytes.length), bytes]);
}

/** Encodes a length of up to 16,383. */
function length(count: number): Buffer {
  return Buffer.from(count < 0x80 ? [count] : [(count & 0x7f) | 0x80, count >> 7]);
}
