import { MAX_EXACT } from './integers.ts';
import type { Reader } from './reader.ts';
import { isVector, MAX_DEPTH, type MetricType, type ScalarType } from './schema.ts';

/**
 * A value of any type. Vectors are lists of their elements and structs lists of their members, in the schema's order: member
 * names come from strangers, and a list cannot be poisoned by one called `__proto__`.
 */
export type Value = number | bigint | boolean | string | readonly Value[];

// A byte order mark is part of the text, not a hint for us.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Values one after another, packed (native-batch.md, `rows`). */
export function readRows(reader: Reader, type: MetricType, count: number): Value[] {
  const values: Value[] = [];
  for (let index = 0; index < count; index++) values.push(readValue(reader, type, 0));
  return values;
}

function readValue(reader: Reader, type: MetricType, depth: number): Value {
  if (typeof type === 'string') return readScalar(reader, type);
  if (depth === MAX_DEPTH) reader.fail('depth', `nested deeper than ${MAX_DEPTH}`);
  if (!isVector(type)) {
    return type.struct.members.map((member) => readValue(reader, member.type, depth + 1));
  }
  const length = reader.varint();
  if (length > reader.left) reader.fail('length', `a vector of ${length} with ${reader.left} bytes left`);
  const elements: Value[] = [];
  for (let index = 0; index < length; index++) {
    const before = reader.pos;
    elements.push(readValue(reader, type.vector, depth + 1));
    // A schema with such elements is refused; without bytes nothing else would bound their number.
    if (reader.pos === before) reader.fail('length', 'an element without bytes');
  }
  return elements;
}

function readScalar(reader: Reader, type: ScalarType): Value {
  const { view } = reader;
  switch (type) {
    case 'int8':
      return view.getInt8(reader.take(1));
    case 'uint8':
      return reader.byte();
    case 'int16':
      return view.getInt16(reader.take(2), true);
    case 'uint16':
      return view.getUint16(reader.take(2), true);
    case 'int32':
      return view.getInt32(reader.take(4), true);
    case 'uint32':
      return view.getUint32(reader.take(4), true);
    case 'int64':
      return narrowest(view.getBigInt64(reader.take(8), true));
    case 'uint64':
      return narrowest(view.getBigUint64(reader.take(8), true));
    case 'real32':
      return view.getFloat32(reader.take(4), true);
    case 'real64':
      return view.getFloat64(reader.take(8), true);
    case 'boolean':
      return readBoolean(reader);
    case 'string':
      return readText(reader);
  }
}

function narrowest(value: bigint): number | bigint {
  return value >= -MAX_EXACT && value <= MAX_EXACT ? Number(value) : value;
}

function readBoolean(reader: Reader): boolean {
  const byte = reader.byte();
  if (byte > 1) reader.fail('boolean', `a boolean is ${byte}`);
  return byte === 1;
}

function readText(reader: Reader): string {
  const length = reader.varint();
  if (length > reader.left) reader.fail('length', `text of ${length} bytes with ${reader.left} left`);
  const start = reader.take(length);
  try {
    return utf8.decode(reader.bytes.subarray(start, start + length));
  } catch {
    return reader.fail('text', 'text is not UTF-8');
  }
}
