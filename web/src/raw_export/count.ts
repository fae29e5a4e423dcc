import type { DacFormat } from './formats.ts';

/** Reads from files of the DAC how many samples they have: the formats know it, and a page needs no library for that. */

/** Returns the number of samples; undefined if the file is not as its format says. */
export async function samplesIn(format: DacFormat, file: Blob): Promise<number | undefined> {
  try {
    return await COUNTERS[format](file);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const COUNTERS = { arrow: inArrow, parquet: inParquet, mcap: inMcap };

/** `DataView` throws a `RangeError` for what is not there. */
async function view(file: Blob, from: number, to: number): Promise<DataView> {
  if (from < 0 || from > to) throw new RangeError('not in the file');
  return new DataView(await file.slice(from, to).arrayBuffer());
}

const CONTINUATION = 0xff_ff_ff_ff;
const RECORD_BATCH = 3;

/** The Arrow stream format: messages, each a flatbuffer and a body. Those of record batches have a length. */
async function inArrow(file: Blob): Promise<number> {
  let [at, samples] = [0, 0];
  while (at < file.size) {
    const head = await view(file, at, at + 8);
    const length = head.getUint32(4, true);
    if (head.getUint32(0, true) !== CONTINUATION) throw new RangeError('no message');
    if (length === 0) break;
    const message = await view(file, at + 8, at + 8 + length);
    const root = message.getUint32(0, true);
    const kind = placeOf(message, root, 1);
    const body = placeOf(message, root, 3);
    if (kind !== undefined && message.getUint8(kind) === RECORD_BATCH) {
      const header = placeOf(message, root, 2) ?? 0;
      const rows = placeOf(message, header + message.getUint32(header, true), 0);
      samples += rows === undefined ? 0 : Number(message.getBigInt64(rows, true));
    }
    at += 8 + length + (body === undefined ? 0 : Number(message.getBigInt64(body, true)));
  }
  return samples;
}

/** Where a flatbuffer has a field of a table; undefined if it has the default. */
function placeOf(buffer: DataView, table: number, field: number): number | undefined {
  const fields = table - buffer.getInt32(table, true);
  if (4 + 2 * field >= buffer.getUint16(fields, true)) return undefined;
  const offset = buffer.getUint16(fields + 4 + 2 * field, true);
  return offset === 0 ? undefined : table + offset;
}

const ROWS_FIELD = 3;

/** The Parquet footer: metadata in Thrift's compact protocol, their length, `PAR1`. */
async function inParquet(file: Blob): Promise<number> {
  const end = await view(file, file.size - 8, file.size);
  const length = end.getUint32(0, true);
  return new Thrift(await view(file, file.size - 8 - length, file.size - 8)).number(ROWS_FIELD);
}

/** As much of Thrift's compact protocol as it takes to find a number. */
class Thrift {
  private at = 0;

  constructor(private readonly bytes: DataView) {}

  /** Returns an integer of the outermost struct. */
  number(wanted: number): number {
    let id = 0;
    for (;;) {
      const [next, type] = this.field(id);
      if (type === 0) throw new RangeError('no such field');
      if (next === wanted) return Number(this.varint() >> 1n);
      this.skip(type);
      id = next;
    }
  }

  private field(before: number): readonly [id: number, type: number] {
    const head = this.byte();
    if (head === 0) return [before, 0];
    const step = head >> 4;
    return [step === 0 ? Number(this.varint() >> 1n) : before + step, head & 15];
  }

  private skip(type: number): void {
    if (type === 3) this.at++;
    else if (type >= 4 && type <= 6) this.varint();
    else if (type === 7) this.at += 8;
    else if (type === 8) this.skipText();
    else if (type === 9 || type === 10) this.skipList();
    else if (type === 12) this.skipStruct();
    // 1 and 2 are truth values in their type; the metadata has no maps.
    else if (type > 2) throw new RangeError('an unknown type');
  }

  private skipText(): void {
    const length = Number(this.varint());
    this.at += length;
  }

  private skipList(): void {
    const head = this.byte();
    const count = head >> 4 === 15 ? Number(this.varint()) : head >> 4;
    const type = head & 15;
    for (let index = 0; index < count; index++) this.skip(type <= 2 ? 3 : type);
  }

  private skipStruct(): void {
    for (let [id, type] = this.field(0); type !== 0; [id, type] = this.field(id)) this.skip(type);
  }

  private varint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  }

  private byte(): number {
    return this.bytes.getUint8(this.at++);
  }
}

/** Length of the opcode and the length of an MCAP record, of its footer, and of the magic after that. */
const RECORD = 9;
const FOOTER = RECORD + 20;
const MAGIC = 8;
const CHANNEL = 0x04;
const STATISTICS = 0x0b;
/** Where the statistics have the counts of channels: after totals, counts of other records and times. */
const CHANNEL_COUNTS = 8 + 2 + 4 + 4 + 4 + 4 + 8 + 8;
/** The topic of messages about gaps: docs/reference/mcap.md. */
const GAPS = '/oasis/missing';

/** The statistics in the summary of an MCAP file, less the messages about gaps. */
async function inMcap(file: Blob): Promise<number> {
  const end = file.size - MAGIC - FOOTER;
  const footer = await view(file, end, end + FOOTER);
  const summary = await view(file, Number(footer.getBigUint64(RECORD, true)), end);
  let samples: number | undefined;
  let counts = new Map<number, number>();
  const ofGaps: number[] = [];
  for (let at = 0; at < summary.byteLength; at += RECORD + Number(summary.getBigUint64(at + 1, true))) {
    const opcode = summary.getUint8(at);
    const body = at + RECORD;
    if (opcode === CHANNEL && topicOf(summary, body) === GAPS) ofGaps.push(summary.getUint16(body, true));
    if (opcode !== STATISTICS) continue;
    samples = Number(summary.getBigUint64(body, true));
    counts = countsOf(summary, body + CHANNEL_COUNTS);
  }
  if (samples === undefined) throw new RangeError('no statistics');
  return ofGaps.reduce((left, channel) => left - (counts.get(channel) ?? 0), samples);
}

/** The topic of a channel, after its number and that of its schema. */
function topicOf(summary: DataView, channel: number): string {
  const length = summary.getUint32(channel + 4, true);
  const from = summary.byteOffset + channel + 8;
  return new TextDecoder().decode(summary.buffer.slice(from, from + length));
}

/** Messages by the number of their channel: a length in bytes, then pairs. */
function countsOf(summary: DataView, at: number): Map<number, number> {
  const counts = new Map<number, number>();
  const end = at + 4 + summary.getUint32(at, true);
  for (let pair = at + 4; pair < end; pair += 10)
    counts.set(summary.getUint16(pair, true), Number(summary.getBigUint64(pair + 2, true)));
  return counts;
}
