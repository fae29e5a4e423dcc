import { Cursor } from '../cursor.ts';
import type { IntegerType, MetricType, RealType } from '../schema.ts';
import { constant } from './constant.ts';
import { delta } from './delta.ts';
import { type BatchHeader, readHeader } from './header.ts';
import {
  type IntegerCodec,
  type NarrowColumn,
  readIntegers,
  readTimes,
  type WideColumn,
} from './integers.ts';
import { readPlain, readPlainTimes } from './plain.ts';
import { rice } from './rice.ts';
import { readRows, type Value } from './rows.ts';
import { readReals32, readReals64 } from './xor.ts';

/**
 * One metric of all samples of a batch. Integers of 8 to 32 bits, booleans (0 and 1) and reals have a typed array of their
 * type. 64-bit integers have a `Float64Array` if it can represent all of them, else a typed array of their type. Strings,
 * vectors and structs are a list.
 */
export type Column = NarrowColumn | WideColumn | Float32Array | readonly Value[];

export interface Batch extends BatchHeader {
  /** Nanoseconds since 1970 by the node's clock, one for each sample. */
  readonly times: BigInt64Array;
  readonly metrics: readonly Column[];
}

const PLAIN = 0;
const XOR = 3;
const ROWS = 4;
const INTEGER_CODECS: Readonly<Partial<Record<number, IntegerCodec>>> = { 1: delta, 2: rice, 5: constant };

/** Decodes the header, which identifies the schema of the rest. */
export function decodeHeader(bytes: Uint8Array): BatchHeader {
  return readHeader(new Cursor(bytes));
}

/** Decodes a batch. Columns may be views of `bytes`; throws {@link DecodeError} and nothing else. */
export function decodeBatch(bytes: Uint8Array, types: readonly MetricType[]): Batch {
  const cursor = new Cursor(bytes);
  const header = readHeader(cursor);
  if (header.columns !== types.length + 1) {
    cursor.fail('columns', `${header.columns} columns, but the schema has ${types.length + 1}`);
  }
  const directory = cursor.take(header.columns);
  const times = readTimeColumn(cursor, bytes[directory]!, header);
  const metrics = types.map((type, index) =>
    readColumn(cursor, bytes[directory + 1 + index]!, type, header.count),
  );
  if (cursor.left > 0) cursor.fail('leftover', `${cursor.left} bytes after the end`);
  return { ...header, times, metrics };
}

function readTimeColumn(cursor: Cursor, encoding: number, header: BatchHeader): BigInt64Array {
  if (encoding === PLAIN) return readPlainTimes(cursor, header.count);
  const codec = INTEGER_CODECS[encoding];
  if (codec) return readTimes(cursor, codec, header.nodeTime, header.count);
  return cursor.fail('encoding', `invalid encoding ${encoding} of the time column`);
}

function readColumn(cursor: Cursor, encoding: number, type: MetricType, count: number): Column {
  if (typeof type === 'object' || type === 'string') {
    if (encoding === ROWS) return readRows(cursor, type, count);
  } else if (encoding === PLAIN) {
    return readPlain(cursor, type, count);
  } else if (isReal(type)) {
    if (encoding === XOR) return type === 'real32' ? readReals32(cursor, count) : readReals64(cursor, count);
  } else {
    const codec = INTEGER_CODECS[encoding];
    if (codec) return readIntegers(cursor, codec, type, count);
  }
  return cursor.fail(
    'encoding',
    `encoding ${encoding} for ${typeof type === 'string' ? type : 'a compound type'}`,
  );
}

function isReal(type: IntegerType | RealType | 'boolean'): type is RealType {
  return type === 'real32' || type === 'real64';
}
