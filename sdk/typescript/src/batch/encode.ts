import type { ProbeCodec } from '../codec.ts';
import { Cursor } from '../cursor.ts';
import { EncodeError } from '../error.ts';
import { RowWriter, toRow } from '../sample/row.ts';
import { type MetricType, widthOf } from '../schema.ts';
import { MAX_BATCH_BYTES, MAX_VALUES } from './header.ts';
import { readRows } from './rows.ts';
import { typesOf } from './types.ts';

const MAX_SAMPLES = 65_535;
const PLAIN = 0;
const ROWS = 4;
const TIME_WIDTH = 8;

/** A sample to add to a batch. */
export interface Timed<T> {
  /** Nanoseconds since 1970-01-01 UTC. */
  readonly time: bigint;
  readonly sample: T;
}

/** Other fields of a batch's header. */
export interface BatchFields {
  /** Sequence number of the first sample; the others follow without a gap. */
  readonly firstSequence: bigint;
  /** Time of the batch, nanoseconds since 1970-01-01 UTC. */
  readonly nodeTime: bigint;
  /** Optional fields, 0 if absent. */
  readonly topic?: number;
  readonly state?: number;
  readonly droppedBefore?: number;
}

/** One column: its values as packed rows, the form that `plain` and `rows` have. */
interface Column {
  readonly width: number | undefined;
  readonly bytes: RowWriter;
}

/**
 * Encodes a native batch in the two simplest encodings, `plain` and `rows`. Every decoder reads it, but it is larger than
 * a node's. Throws an {@link EncodeError} for a value that its metric cannot represent, for no samples and for too many.
 */
export function encodeBatch<T>(
  samples: readonly Timed<T>[],
  of: ProbeCodec<T>,
  fields: BatchFields,
): Uint8Array<ArrayBuffer> {
  const types = typesOf(of);
  const values = samples.length * (types.length + 1);
  if (samples.length === 0 || samples.length > MAX_SAMPLES || values > MAX_VALUES) {
    throw new EncodeError('length', of.name, `a batch cannot have ${samples.length} samples`);
  }
  const times: Column = { width: TIME_WIDTH, bytes: new RowWriter() };
  const metrics = types.map((type) => ({ type, width: widthOf(type), bytes: new RowWriter() }));
  for (const { time, sample } of samples) {
    times.bytes.int64(time, `${of.name}, time of a sample`);
    split(toRow(sample, of), metrics);
  }
  const batch = joined([times, ...metrics], samples.length, fields);
  if (batch.length > MAX_BATCH_BYTES) {
    throw new EncodeError(
      'length',
      of.name,
      `a batch of ${batch.length} bytes, where ${MAX_BATCH_BYTES} are allowed`,
    );
  }
  return batch;
}

/** Adds a value to each column. */
function split(row: Uint8Array, columns: readonly (Column & { readonly type: MetricType })[]): void {
  const cursor = new Cursor(row);
  for (const { type, bytes } of columns) {
    const start = cursor.pos;
    readRows(cursor, type, 1);
    bytes.octets(row.subarray(start, cursor.pos));
  }
}

function joined(columns: readonly Column[], count: number, fields: BatchFields): Uint8Array<ArrayBuffer> {
  const batch = new RowWriter();
  batch.octets([1, 1]);
  batch.uint16(fields.state ?? 0, 'state');
  batch.uint32(fields.topic ?? 0, 'topic');
  batch.uint64(fields.firstSequence, 'firstSequence');
  batch.uint64(0n, 'offset');
  batch.uint64(fields.nodeTime, 'nodeTime');
  batch.uint64(0n, 'DAC time');
  batch.uint32(fields.droppedBefore ?? 0, 'droppedBefore');
  batch.uint16(count, 'count');
  batch.uint16(columns.length, 'columns');
  batch.octets(columns.map(({ width }) => (width === undefined ? ROWS : PLAIN)));
  for (const { width = 1, bytes } of columns) {
    batch.octets(new Uint8Array((width - (batch.length % width)) % width));
    batch.octets(bytes.bytes());
  }
  return batch.bytes();
}
