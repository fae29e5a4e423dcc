import type { Cursor } from '../cursor.ts';
import type { IntegerType } from '../schema.ts';

/**
 * Converts integer columns from the codecs to typed arrays.
 *
 * A codec first tries numbers: it fills a `Float64Array` and stops (`false`) at the first value beyond ±(2^53 - 1). Only
 * then is the column read again with BigInt. In both cases values are relative to the column's base.
 */
export interface IntegerCodec {
  fast(cursor: Cursor, out: Float64Array): boolean;
  exact(cursor: Cursor, out: BigInt64Array): void;
}

export type WideColumn = Float64Array | BigInt64Array | BigUint64Array;
export type NarrowColumn = Int8Array | Int16Array | Int32Array | Uint8Array | Uint16Array | Uint32Array;

export const MAX_EXACT = 2 ** 53;
const TWO_32 = 2 ** 32;
const HIGH_EXACT = 2 ** 21;

interface Narrow {
  readonly make: (count: number) => NarrowColumn;
  readonly min: number;
  readonly max: number;
}

const NARROW: Readonly<Partial<Record<IntegerType | 'boolean', Narrow>>> = {
  int8: { make: (count) => new Int8Array(count), min: -128, max: 127 },
  int16: { make: (count) => new Int16Array(count), min: -32768, max: 32767 },
  int32: { make: (count) => new Int32Array(count), min: -2147483648, max: 2147483647 },
  uint8: { make: (count) => new Uint8Array(count), min: 0, max: 255 },
  uint16: { make: (count) => new Uint16Array(count), min: 0, max: 65535 },
  uint32: { make: (count) => new Uint32Array(count), min: 0, max: 4294967295 },
  boolean: { make: (count) => new Uint8Array(count), min: 0, max: 1 },
};

/** Decodes a metric of integer or boolean type; its base is 0. */
export function readIntegers(
  cursor: Cursor,
  codec: IntegerCodec,
  type: IntegerType | 'boolean',
  count: number,
): WideColumn | NarrowColumn {
  const start = cursor.pos;
  const numbers = new Float64Array(count);
  const isExact = codec.fast(cursor, numbers);
  const narrow = NARROW[type];
  if (isExact) {
    if (narrow) return narrowed(cursor, numbers, narrow);
    if (type === 'int64' || !hasNegative(numbers)) return numbers;
  }
  cursor.pos = start;
  const wide = new BigInt64Array(count);
  codec.exact(cursor, wide);
  if (narrow) return narrowed(cursor, wide, narrow);
  return (
    exactWide(new Uint32Array(wide.buffer), type === 'int64') ??
    (type === 'int64' ? wide : new BigUint64Array(wide.buffer))
  );
}

/** Decodes the time column. It always has 64 bits, because nanoseconds since 1970 do not fit a number. */
export function readTimes(cursor: Cursor, codec: IntegerCodec, base: bigint, count: number): BigInt64Array {
  const start = cursor.pos;
  const numbers = new Float64Array(count);
  if (codec.fast(cursor, numbers)) return onBase(numbers, base);
  cursor.pos = start;
  const wide = new BigInt64Array(count);
  codec.exact(cursor, wide);
  for (let index = 0; index < count; index++) wide[index]! += base;
  return wide;
}

/** Adds numbers to a 64-bit base in two halves, without a BigInt for each value. */
function onBase(numbers: Float64Array, base: bigint): BigInt64Array {
  const baseLow = Number(base & 0xffffffffn);
  const baseHigh = Number(base >> 32n);
  const times = new BigInt64Array(numbers.length);
  const halves = new Uint32Array(times.buffer);
  for (let index = 0; index < numbers.length; index++) {
    const high = Math.floor(numbers[index]! / TWO_32);
    const low = numbers[index]! - high * TWO_32 + baseLow;
    const carry = low >= TWO_32 ? 1 : 0;
    halves[2 * index] = low - carry * TWO_32;
    halves[2 * index + 1] = high + baseHigh + carry;
  }
  return times;
}

/** Returns 64-bit values as numbers; undefined if one is beyond ±2^53. Halves: low, high, low, high, ... */
export function exactWide(halves: Uint32Array, isSigned: boolean): Float64Array | undefined {
  const count = halves.length / 2;
  const numbers = new Float64Array(count);
  for (let index = 0; index < count; index++) {
    const low = halves[2 * index]!;
    const high = isSigned ? halves[2 * index + 1]! | 0 : halves[2 * index + 1]!;
    if (high >= HIGH_EXACT ? high > HIGH_EXACT || low > 0 : high < -HIGH_EXACT) return undefined;
    numbers[index] = high * TWO_32 + low;
  }
  return numbers;
}

function narrowed(cursor: Cursor, values: Float64Array | BigInt64Array, narrow: Narrow): NarrowColumn {
  const column = narrow.make(values.length);
  for (let index = 0; index < values.length; index++) {
    const value = Number(values[index]);
    // This form of the comparison rejects NaN, too.
    if (!(value >= narrow.min && value <= narrow.max)) cursor.fail('range', `${value} does not fit the type`);
    column[index] = value;
  }
  return column;
}

function hasNegative(numbers: Float64Array): boolean {
  for (let index = 0; index < numbers.length; index++) if (numbers[index]! < 0) return true;
  return false;
}
