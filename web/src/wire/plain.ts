import { exactWide, type NarrowColumn, type WideColumn } from './integers.ts';
import type { Reader } from './reader.ts';
import type { IntegerType, RealType } from './schema.ts';

/**
 * Values as they lie in memory (native-batch.md, `plain`). The arrays are views of the batch itself wherever the batch begins
 * at a multiple of the width, as every message of a WebSocket does. Batches and the machines browsers run on are little-endian.
 */
export function readPlain(
  reader: Reader,
  type: IntegerType | RealType | 'boolean',
  count: number,
): WideColumn | NarrowColumn | Float32Array {
  switch (type) {
    case 'int8':
      return view(reader, Int8Array, count);
    case 'uint8':
      return view(reader, Uint8Array, count);
    case 'boolean':
      return booleans(reader, count);
    case 'int16':
      return view(reader, Int16Array, count);
    case 'uint16':
      return view(reader, Uint16Array, count);
    case 'int32':
      return view(reader, Int32Array, count);
    case 'uint32':
      return view(reader, Uint32Array, count);
    case 'real32':
      return view(reader, Float32Array, count);
    case 'real64':
      return view(reader, Float64Array, count);
    case 'int64':
      return wide(view(reader, BigInt64Array, count), true);
    case 'uint64':
      return wide(view(reader, BigUint64Array, count), false);
  }
}

export function readPlainTimes(reader: Reader, count: number): BigInt64Array {
  return view(reader, BigInt64Array, count);
}

interface ArrayMaker<T> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, offset: number, length: number): T;
}

function view<T>(reader: Reader, make: ArrayMaker<T>, count: number): T {
  const width = make.BYTES_PER_ELEMENT;
  const padding = (width - (reader.pos % width)) % width;
  const start = reader.take(padding);
  for (let index = 0; index < padding; index++) {
    if (reader.bytes[start + index] !== 0) reader.fail('padding', 'padding is not zero');
  }
  const first = reader.bytes.byteOffset + reader.take(width * count);
  if (first % width === 0) return new make(reader.bytes.buffer, first, count);
  return new make(reader.bytes.buffer.slice(first, first + width * count), 0, count);
}

function wide(values: BigInt64Array | BigUint64Array, isSigned: boolean): WideColumn {
  return exactWide(new Uint32Array(values.buffer, values.byteOffset, values.length * 2), isSigned) ?? values;
}

function booleans(reader: Reader, count: number): Uint8Array {
  const values = view(reader, Uint8Array, count);
  for (let index = 0; index < count; index++) {
    if (values[index] > 1) reader.fail('boolean', `a boolean is ${values[index]}`);
  }
  return values;
}
