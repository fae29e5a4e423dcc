import type { EnumBase, Reader, StructCodec } from '../codec.ts';
import { Cursor } from '../cursor.ts';
import { type Enumeration, type EnumeratorOf, isDeclared, noneOf } from '../enumeration.ts';
import { DecodeError } from '../error.ts';
import { widthOf } from '../schema.ts';

// A byte order mark is part of the text.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads values from untrusted bytes. A length from the bytes never determines an allocation. */
export abstract class ByteReader implements Reader {
  protected readonly cursor: Cursor;
  readonly #littleEndian: boolean;

  constructor(bytes: Uint8Array, littleEndian: boolean) {
    this.cursor = new Cursor(bytes);
    this.#littleEndian = littleEndian;
  }

  /** Skips the padding before a number of so many bytes. */
  protected abstract align(width: number): void;
  /** Reads the length of a vector. */
  protected abstract count(): number;
  abstract string(): string;

  /** Offset of the next value. */
  get offset(): number {
    return this.cursor.pos;
  }

  /** Number of unread bytes. */
  get left(): number {
    return this.cursor.left;
  }

  /** Throws if bytes are left. */
  finish(): void {
    if (this.left > 0) this.cursor.fail('leftover', `${this.left} bytes after the end`);
  }

  /** Returns a view of the next bytes. */
  octets(length: number): Uint8Array {
    const start = this.cursor.take(length);
    return this.cursor.bytes.subarray(start, start + length);
  }

  int8(): number {
    return this.cursor.view.getInt8(this.#fixed(1));
  }

  int16(): number {
    return this.cursor.view.getInt16(this.#fixed(2), this.#littleEndian);
  }

  int32(): number {
    return this.cursor.view.getInt32(this.#fixed(4), this.#littleEndian);
  }

  int64(): bigint {
    return this.cursor.view.getBigInt64(this.#fixed(8), this.#littleEndian);
  }

  uint8(): number {
    return this.cursor.view.getUint8(this.#fixed(1));
  }

  uint16(): number {
    return this.cursor.view.getUint16(this.#fixed(2), this.#littleEndian);
  }

  uint32(): number {
    return this.cursor.view.getUint32(this.#fixed(4), this.#littleEndian);
  }

  uint64(): bigint {
    return this.cursor.view.getBigUint64(this.#fixed(8), this.#littleEndian);
  }

  real32(): number {
    return this.cursor.view.getFloat32(this.#fixed(4), this.#littleEndian);
  }

  real64(): number {
    return this.cursor.view.getFloat64(this.#fixed(8), this.#littleEndian);
  }

  boolean(): boolean {
    const at = this.cursor.pos;
    const byte = this.cursor.byte();
    if (byte > 1) throw new DecodeError('boolean', at, `a boolean is ${byte}: expected 0 or 1`);
    return byte === 1;
  }

  /** Returns a view of the bytes that are read. */
  blob(maxBytes: number): Uint8Array {
    const at = this.cursor.pos;
    const length = this.count();
    if (length > maxBytes) {
      throw new DecodeError('blob', at, `a blob of ${length} bytes: at most ${maxBytes} are allowed`);
    }
    return this.octets(length);
  }

  enumerator<E extends Enumeration>(of: E, type: EnumBase): EnumeratorOf<E> {
    this.align(widthOf(type) ?? 1);
    const at = this.cursor.pos;
    const number = this[type]();
    if (!isDeclared(of, number)) throw new DecodeError('enumerator', at, `${number} is ${noneOf(of)}`);
    return number;
  }

  struct<T>(of: StructCodec<T>): T {
    return of.read(this);
  }

  vector<T>(element: () => T): T[] {
    const at = this.cursor.pos;
    const count = this.count();
    if (count > this.left) {
      throw new DecodeError('elements', at, `a vector of ${count} elements with ${this.left} bytes left`);
    }
    const elements: T[] = [];
    for (let index = 0; index < count; index++) {
      const before = this.cursor.pos;
      elements.push(element());
      // Without bytes, nothing would limit the number of elements in nested vectors.
      if (this.cursor.pos === before) this.cursor.fail('elements', 'an element has no bytes');
    }
    return elements;
  }

  /** Decodes bytes that have been read as text. */
  protected text(start: number, length: number): string {
    try {
      return utf8.decode(this.cursor.bytes.subarray(start, start + length));
    } catch {
      throw new DecodeError('text', start, 'text is not UTF-8');
    }
  }

  #fixed(width: number): number {
    this.align(width);
    return this.cursor.take(width);
  }
}
