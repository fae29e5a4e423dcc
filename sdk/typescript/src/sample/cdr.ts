import { DecodeError } from '../error.ts';
import { ByteReader } from './byte_reader.ts';
import { ByteWriter } from './byte_writer.ts';

/** Byte order of numbers: least significant byte first, as on the WebSocket, or most significant first. */
export type ByteOrder = 'little' | 'big';

/** Writes Common Data Representation: numbers aligned to their size from the start, padding zero (eisa.md). */
export class CdrWriter extends ByteWriter {
  constructor(order: ByteOrder = 'little') {
    super(order === 'little');
  }

  /** Appends zeros up to the next multiple of `alignment`. */
  override align(alignment: number): void {
    this.octets(new Uint8Array((alignment - (this.length % alignment)) % alignment));
  }

  protected override count(count: number): void {
    this.uint32(count, 'length');
  }

  protected override text(encoded: Uint8Array): void {
    this.count(encoded.length + 1);
    this.octets(encoded);
    this.octets([0]);
  }
}

/** Reads Common Data Representation. The content of padding is ignored. */
export class CdrReader extends ByteReader {
  constructor(bytes: Uint8Array, order: ByteOrder = 'little') {
    super(bytes, order === 'little');
  }

  /** Skips padding. */
  override align(alignment: number): void {
    this.cursor.take((alignment - (this.offset % alignment)) % alignment);
  }

  protected override count(): number {
    return this.uint32();
  }

  override string(): string {
    const length = this.uint32();
    const start = this.cursor.take(length);
    if (length === 0 || this.cursor.bytes[start + length - 1] !== 0) {
      throw new DecodeError('terminator', start, 'a string does not end with NUL');
    }
    return this.text(start, length - 1);
  }
}
