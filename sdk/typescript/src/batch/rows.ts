import type { Cursor } from '../cursor.ts';
import { isBlob, isVector, MAX_DEPTH, type MetricType, type ScalarType } from '../schema.ts';
import { MAX_EXACT } from './integers.ts';

/**
 * A value of any type. Vectors are lists of elements; structs are lists of members in the schema's order. Member names are
 * untrusted, and a list cannot be poisoned by a member `__proto__`. A blob is a view of the batch's bytes, without a copy.
 */
export type Value = number | bigint | boolean | string | Uint8Array | readonly Value[];

// A byte order mark is part of the text. Bytes that are not UTF-8 become U+FFFD: the samples beside them stay readable.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Decodes packed values, one after another (native-batch.md, `rows`). */
export function readRows(cursor: Cursor, type: MetricType, count: number): Value[] {
  const values: Value[] = [];
  for (let index = 0; index < count; index++) values.push(readValue(cursor, type, 0));
  return values;
}

function readValue(cursor: Cursor, type: MetricType, depth: number): Value {
  if (typeof type === 'string') return readScalar(cursor, type);
  if (depth === MAX_DEPTH) cursor.fail('depth', `nested deeper than ${MAX_DEPTH}`);
  if (isBlob(type)) return readBlob(cursor, type.blob.max_bytes);
  if (!isVector(type)) {
    return type.struct.members.map((member) => readValue(cursor, member.type, depth + 1));
  }
  const length = cursor.varint();
  if (length > cursor.left)
    cursor.fail('elements', `a vector of ${length} elements with ${cursor.left} bytes left`);
  const elements: Value[] = [];
  for (let index = 0; index < length; index++) {
    const before = cursor.pos;
    elements.push(readValue(cursor, type.vector, depth + 1));
    // A schema with such elements is rejected; without bytes, nothing else would limit their number.
    if (cursor.pos === before) cursor.fail('elements', 'an element has no bytes');
  }
  return elements;
}

function readScalar(cursor: Cursor, type: ScalarType): Value {
  const { view } = cursor;
  switch (type) {
    case 'int8':
      return view.getInt8(cursor.take(1));
    case 'uint8':
      return cursor.byte();
    case 'int16':
      return view.getInt16(cursor.take(2), true);
    case 'uint16':
      return view.getUint16(cursor.take(2), true);
    case 'int32':
      return view.getInt32(cursor.take(4), true);
    case 'uint32':
      return view.getUint32(cursor.take(4), true);
    case 'int64':
      return narrowest(view.getBigInt64(cursor.take(8), true));
    case 'uint64':
      return narrowest(view.getBigUint64(cursor.take(8), true));
    case 'real32':
      return view.getFloat32(cursor.take(4), true);
    case 'real64':
      return view.getFloat64(cursor.take(8), true);
    case 'boolean':
      return readBoolean(cursor);
    case 'string':
      return readText(cursor);
  }
}

function narrowest(value: bigint): number | bigint {
  return value >= -MAX_EXACT && value <= MAX_EXACT ? Number(value) : value;
}

function readBoolean(cursor: Cursor): boolean {
  const byte = cursor.byte();
  if (byte > 1) cursor.fail('boolean', `a boolean is ${byte}: expected 0 or 1`);
  return byte === 1;
}

function readBlob(cursor: Cursor, maxBytes: number): Uint8Array {
  const length = cursor.varint();
  if (length > maxBytes) cursor.fail('blob', `a blob of ${length} bytes: at most ${maxBytes} are allowed`);
  if (length > cursor.left) cursor.fail('truncated', `a blob of ${length} bytes with ${cursor.left} left`);
  const start = cursor.take(length);
  return cursor.bytes.subarray(start, start + length);
}

function readText(cursor: Cursor): string {
  const length = cursor.varint();
  if (length > cursor.left) cursor.fail('truncated', `text of ${length} bytes with ${cursor.left} left`);
  const start = cursor.take(length);
  return utf8.decode(cursor.bytes.subarray(start, start + length));
}
