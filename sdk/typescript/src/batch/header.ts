import type { Cursor } from '../cursor.ts';

export const HEADER_BYTES = 48;
export const MAX_BATCH_BYTES = 1 << 20;
/** Maximum number of decoded values: a small batch may contain many repeated values. */
export const MAX_VALUES = 1 << 22;

/** The header before the columns (docs/reference/native-batch.md, "Header"). */
export interface BatchHeader {
  readonly state: number;
  readonly topic: number;
  readonly firstSequence: bigint;
  readonly offset: bigint;
  readonly nodeTime: bigint;
  readonly dacTime: bigint;
  readonly droppedBefore: number;
  readonly count: number;
  readonly columns: number;
}

export function readHeader(cursor: Cursor): BatchHeader {
  if (cursor.end > MAX_BATCH_BYTES)
    cursor.fail('too_large', `${cursor.end} bytes: expected at most ${MAX_BATCH_BYTES}`);
  const { view } = cursor;
  if (cursor.end < HEADER_BYTES)
    cursor.fail('truncated', `expected a header of ${HEADER_BYTES} bytes, ${cursor.end} left`);
  if (view.getUint8(0) !== 1) cursor.fail('kind', `unknown kind ${view.getUint8(0)}: expected 1`);
  if (view.getUint8(1) !== 1) cursor.fail('version', `unknown version ${view.getUint8(1)}: expected 1`);
  const header: BatchHeader = {
    state: view.getUint16(2, true),
    topic: view.getUint32(4, true),
    firstSequence: view.getBigUint64(8, true),
    offset: view.getBigUint64(16, true),
    nodeTime: view.getBigUint64(24, true),
    dacTime: view.getBigUint64(32, true),
    droppedBefore: view.getUint32(40, true),
    count: view.getUint16(44, true),
    columns: view.getUint16(46, true),
  };
  if (header.count === 0) cursor.fail('count', 'no samples');
  if (header.count * header.columns > MAX_VALUES)
    cursor.fail('too_large', `${header.count} samples of ${header.columns} columns`);
  cursor.pos = HEADER_BYTES;
  return header;
}
