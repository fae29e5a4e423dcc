import type { EnumBase, Reader, StructCodec } from '../codec.ts';
import { type Enumeration, type EnumeratorOf, isDeclared, noneOf } from '../enumeration.ts';
import { DecodeError } from '../error.ts';
import { RANGES, WIDE_RANGES } from '../sample/range.ts';

/** Reads one sample from the decoded values of its batch. */
export class ColumnReader implements Reader {
  /** Description for errors. */
  readonly #what: string;
  #values: readonly unknown[];
  #at = 0;

  constructor(values: readonly unknown[], what: string) {
    this.#values = values;
    this.#what = what;
  }

  /** Number of unread values. */
  get left(): number {
    return this.#values.length - this.#at;
  }

  int8(): number {
    return this.#integer('int8');
  }

  int16(): number {
    return this.#integer('int16');
  }

  int32(): number {
    return this.#integer('int32');
  }

  int64(): bigint {
    return this.#wide('int64');
  }

  uint8(): number {
    return this.#integer('uint8');
  }

  uint16(): number {
    return this.#integer('uint16');
  }

  uint32(): number {
    return this.#integer('uint32');
  }

  uint64(): bigint {
    return this.#wide('uint64');
  }

  real32(): number {
    return this.real64();
  }

  real64(): number {
    const value = this.#next();
    return typeof value === 'number' ? value : this.#mismatch('real');
  }

  /** A column contains 0 and 1, a vector or a struct false and true. */
  boolean(): boolean {
    const value = this.#next();
    if (typeof value === 'boolean') return value;
    return value === 0 || value === 1 ? value === 1 : this.#mismatch('boolean');
  }

  string(): string {
    const value = this.#next();
    return typeof value === 'string' ? value : this.#mismatch('string');
  }

  /** The decoder of batches has checked the bound. */
  blob(): Uint8Array {
    const value = this.#next();
    return value instanceof Uint8Array ? value : this.#mismatch('blob');
  }

  enumerator<E extends Enumeration>(of: E, type: EnumBase): EnumeratorOf<E> {
    const number = this.#integer(type);
    if (isDeclared(of, number)) return number;
    throw new DecodeError('enumerator', undefined, `${number} in ${this.#what} is ${noneOf(of)}`);
  }

  struct<T>(of: StructCodec<T>): T {
    return this.#within(this.#list(of.name), () => of.read(this));
  }

  vector<T>(element: () => T): T[] {
    const list = this.#list('vector');
    return this.#within(list, () => list.map(element));
  }

  #next(): unknown {
    return this.#values[this.#at++];
  }

  #integer(type: EnumBase): number {
    const value = this.#next();
    const [min, max] = RANGES[type];
    const fits = typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
    return fits ? value : this.#mismatch(type);
  }

  /** If numbers can represent all values exactly, the column contains numbers. */
  #wide(type: 'int64' | 'uint64'): bigint {
    const value = this.#next();
    const isWhole = typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
    if (!isWhole) this.#mismatch(type);
    const [min, max] = WIDE_RANGES[type];
    const wide = BigInt(value);
    return wide >= min && wide <= max ? wide : this.#mismatch(type);
  }

  #list(wanted: string): readonly unknown[] {
    const value = this.#next();
    return Array.isArray(value) ? value : this.#mismatch(wanted);
  }

  #within<T>(values: readonly unknown[], read: () => T): T {
    const [outer, at] = [this.#values, this.#at];
    [this.#values, this.#at] = [values, 0];
    const value = read();
    if (this.left > 0) this.#mismatch('value of as many members');
    [this.#values, this.#at] = [outer, at];
    return value;
  }

  #mismatch(wanted: string): never {
    const problem = `expected ${wanted} in ${this.#what}: the batch is of another type`;
    throw new DecodeError('columns', undefined, problem);
  }
}
