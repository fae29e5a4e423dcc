import type { EnumBase, StructCodec, Writer } from '../codec.ts';
import { type Enumeration, isDeclared, noneOf } from '../enumeration.ts';
import { EncodeError } from '../error.ts';
import { RANGES, WIDE_RANGES } from './range.ts';

const FIRST_CAPACITY = 256;
const utf8 = new TextEncoder();
/** Half of a surrogate pair, which UTF-8 cannot represent; with the flag `u`, whole pairs do not match. */
const LONE_SURROGATE = /[\ud800-\udfff]/u;

/** Writes values as bytes. Subclasses implement the differences between packed rows and CDR. */
export abstract class ByteWriter implements Writer {
  readonly #littleEndian: boolean;
  #bytes = new Uint8Array(FIRST_CAPACITY);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  constructor(littleEndian: boolean) {
    this.#littleEndian = littleEndian;
  }

  /** Appends the padding before a number of so many bytes. */
  protected abstract align(width: number): void;
  /** Appends the length of a vector. */
  protected abstract count(count: number): void;
  /** Appends text with its length. */
  protected abstract text(encoded: Uint8Array): void;

  /** Number of bytes written. */
  get length(): number {
    return this.#length;
  }

  /** Returns a copy of all written bytes. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }

  /** Appends bytes unchanged. */
  octets(octets: ArrayLike<number>): void {
    const at = this.#room(octets.length);
    this.#bytes.set(octets, at);
  }

  int8(value: number, metric: string): void {
    const at = this.#integer(value, 'int8', 1, metric);
    this.#view.setInt8(at, value);
  }

  int16(value: number, metric: string): void {
    const at = this.#integer(value, 'int16', 2, metric);
    this.#view.setInt16(at, value, this.#littleEndian);
  }

  int32(value: number, metric: string): void {
    const at = this.#integer(value, 'int32', 4, metric);
    this.#view.setInt32(at, value, this.#littleEndian);
  }

  int64(value: bigint, metric: string): void {
    const at = this.#wide(value, 'int64', metric);
    this.#view.setBigInt64(at, value, this.#littleEndian);
  }

  uint8(value: number, metric: string): void {
    const at = this.#integer(value, 'uint8', 1, metric);
    this.#view.setUint8(at, value);
  }

  uint16(value: number, metric: string): void {
    const at = this.#integer(value, 'uint16', 2, metric);
    this.#view.setUint16(at, value, this.#littleEndian);
  }

  uint32(value: number, metric: string): void {
    const at = this.#integer(value, 'uint32', 4, metric);
    this.#view.setUint32(at, value, this.#littleEndian);
  }

  uint64(value: bigint, metric: string): void {
    const at = this.#wide(value, 'uint64', metric);
    this.#view.setBigUint64(at, value, this.#littleEndian);
  }

  real32(value: number, metric: string): void {
    expect(typeof value === 'number', value, 'number', metric);
    if (Number.isFinite(value) && !Number.isFinite(Math.fround(value))) {
      throw new EncodeError('range', metric, `${shown(value)} does not fit real32 (up to 3.4028235e+38)`);
    }
    const at = this.#fixed(4);
    this.#view.setFloat32(at, value, this.#littleEndian);
  }

  real64(value: number, metric: string): void {
    expect(typeof value === 'number', value, 'number', metric);
    const at = this.#fixed(8);
    this.#view.setFloat64(at, value, this.#littleEndian);
  }

  boolean(value: boolean, metric: string): void {
    expect(typeof value === 'boolean', value, 'boolean', metric);
    const at = this.#room(1);
    this.#view.setUint8(at, value ? 1 : 0);
  }

  string(value: string, metric: string): void {
    expect(typeof value === 'string', value, 'string', metric);
    const surrogate = value.search(LONE_SURROGATE);
    if (surrogate >= 0) {
      const problem = `half of a surrogate pair at index ${surrogate}, which UTF-8 cannot represent`;
      throw new EncodeError('text', metric, problem);
    }
    this.text(utf8.encode(value));
  }

  blob(value: Uint8Array, maxBytes: number, metric: string): void {
    expect(value instanceof Uint8Array, value, 'Uint8Array', metric);
    if (value.length > maxBytes) {
      const problem = `${value.length} bytes: at most ${maxBytes} are allowed`;
      throw new EncodeError('range', metric, problem);
    }
    this.count(value.length);
    this.octets(value);
  }

  enumerator(value: number, of: Enumeration, type: EnumBase, metric: string): void {
    if (!isDeclared(of, value)) throw new EncodeError('range', metric, `${shown(value)} is ${noneOf(of)}`);
    this[type](value, metric);
  }

  struct<T>(value: T, of: StructCodec<T>, metric: string): void {
    expect(typeof value === 'object' && value !== null, value, of.name, metric);
    try {
      of.write(value, this);
    } catch (error) {
      if (error instanceof EncodeError) throw new EncodeError(error.kind, metric, error.message);
      throw error;
    }
  }

  vector<T>(value: readonly T[], metric: string): readonly T[] {
    expect(Array.isArray(value), value, 'array', metric);
    this.count(value.length);
    return value;
  }

  #integer(value: number, type: EnumBase, width: number, metric: string): number {
    const [min, max] = RANGES[type];
    if (!(Number.isInteger(value) && value >= min && value <= max))
      refuse(value, 'number', type, min, max, metric);
    return this.#fixed(width);
  }

  #wide(value: bigint, type: 'int64' | 'uint64', metric: string): number {
    const [min, max] = WIDE_RANGES[type];
    if (!(typeof value === 'bigint' && value >= min && value <= max))
      refuse(value, 'bigint', type, min, max, metric);
    return this.#fixed(8);
  }

  #fixed(width: number): number {
    this.align(width);
    return this.#room(width);
  }

  /** Reserves bytes and returns their offset. It may replace `bytes` and `view`. */
  #room(length: number): number {
    const at = this.#length;
    this.#length += length;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#length, 2 * this.#bytes.length));
      larger.set(this.#bytes.subarray(0, at));
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    return at;
  }
}

function refuse(
  value: unknown,
  wanted: 'number' | 'bigint',
  type: string,
  min: number | bigint,
  max: number | bigint,
  metric: string,
): never {
  const kind = typeof value === wanted ? 'range' : 'type';
  const hint = kind === 'type' && wanted === 'bigint' ? ', as a bigint' : '';
  throw new EncodeError(kind, metric, `expected ${type} (${min} to ${max}${hint}), got ${shown(value)}`);
}

function expect(isExpected: boolean, value: unknown, wanted: string, metric: string): void {
  if (!isExpected) throw new EncodeError('type', metric, `expected ${wanted}, got ${shown(value)}`);
}

function shown(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
}
