import type { Cursor } from '../cursor.ts';

/**
 * Decodes runs of equal bits and varint XORs (native-batch.md, `xor`). The bits go straight into the array's memory, so
 * NaNs keep theirs.
 */
export function readReals32(cursor: Cursor, count: number): Float32Array {
  const reals = new Float32Array(count);
  const words = new Uint32Array(reals.buffer);
  let bits = 0;
  for (let index = 0; index < count; ) {
    index = fillRun(cursor, index, count, words, 1, bits, 0);
    if (index === count) break;
    cursor.varintPair();
    if (cursor.high !== 0) cursor.fail('range', 'a value has more than 32 bits');
    bits = (bits ^ swap(cursor.low)) >>> 0;
    words[index++] = bits;
  }
  return reals;
}

export function readReals64(cursor: Cursor, count: number): Float64Array {
  const reals = new Float64Array(count);
  const words = new Uint32Array(reals.buffer);
  let low = 0;
  let high = 0;
  for (let index = 0; index < count; ) {
    index = fillRun(cursor, index, count, words, 2, low, high);
    if (index === count) break;
    cursor.varintPair();
    low ^= swap(cursor.high);
    high ^= swap(cursor.low);
    words[2 * index] = low;
    words[2 * index + 1] = high;
    index++;
  }
  return reals;
}

/** Reads a run and writes its repeats; returns the index after them. */
function fillRun(
  cursor: Cursor,
  index: number,
  count: number,
  words: Uint32Array,
  width: 1 | 2,
  low: number,
  high: number,
): number {
  const run = cursor.varint();
  if (run > count - index) cursor.fail('run', `a run of ${run} samples with ${count - index} left`);
  const stop = index + run;
  // A new array contains zeros.
  if (low === 0 && high === 0) return stop;
  for (let at = index; at < stop; at++) {
    words[width * at] = low;
    if (width === 2) words[2 * at + 1] = high;
  }
  return stop;
}

function swap(word: number): number {
  return (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);
}
