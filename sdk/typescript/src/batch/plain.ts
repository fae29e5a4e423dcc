import type { Cursor } from '../cursor.ts';
import type { IntegerType, RealType } from '../schema.ts';
import { exactWide, type NarrowColumn, type WideColumn } from './integers.ts';

/**
 * Decodes values as they are in memory (native-batch.md, `plain`). The arrays are views of the batch if it starts at a
 * multiple of the width, as every message of a WebSocket does. Batches, and the machines that browsers run on, are little-
 * endian.
 */
export function readPlain(
  cursor: Cursor,
  type: IntegerType | RealType | 'boolean',
  count: number,
): WideColumn | NarrowColumn | Float32Array {
  switch (type) {
    case 'int8':
      return view(cursor, Int8Array, count);
    case 'uint8':
      return view(cursor, Uint8Array, count);
    case 'boolean':
      return booleans(cursor, count);
    case 'int16':
      return view(cursor, Int16Array, count);
    case 'uint16':
      return view(cursor, Uint16Array, count);
    case 'int32':
      return view(cursor, Int32Array, count);
    case 'uint32':
      return view(cursor, Uint32Array, count);
    case 'real32':
      return view(cursor, Float32Array, count);
    case 'real64':
      return view(cursor, Float64Array, count);
    case 'int64':
      return wide(view(cursor, BigInt64Array, count), true);
    case 'uint64':
      return wide(view(cursor, BigUint64Array, count), false);
  }
}

export function readPlainTimes(cursor: Cursor, count: number): BigInt64Array {
  return view(cursor, BigInt64Array, count);
}

interface ArrayMaker<T> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, offset: number, length: number): T;
}

function view<T>(cursor: Cursor, make: ArrayMaker<T>, count: number): T {
  const width = make.BYTES_PER_ELEMENT;
  const padding = (width - (cursor.pos % width)) % width;
  const start = cursor.take(padding);
  for (let index = 0; index < padding; index++) {
    if (cursor.bytes[start + index] !== 0) cursor.fail('padding', 'padding is not zero');
  }
  const first = cursor.bytes.byteOffset + cursor.take(width * count);
  if (first % width === 0) return new make(cursor.bytes.buffer, first, count);
  return new make(cursor.bytes.buffer.slice(first, first + width * count), 0, count);
}

function wide(values: BigInt64Array | BigUint64Array, isSigned: boolean): WideColumn {
  return exactWide(new Uint32Array(values.buffer, values.byteOffset, values.length * 2), isSigned) ?? values;
}

function booleans(cursor: Cursor, count: number): Uint8Array {
  const values = view(cursor, Uint8Array, count);
  for (let index = 0; index < count; index++) {
    if (values[index]! > 1) cursor.fail('boolean', `a boolean is ${values[index]}: expected 0 or 1`);
  }
  return values;
}
