import { DecodeError, type DecodeKind } from './error.ts';

const TWO_28 = 2 ** 28;
const TWO_56 = 2 ** 56;

/** A cursor over bytes. Every read is checked against the end. */
export class Cursor {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly end: number;
  pos = 0;

  /** The two halves of the value that {@link varintPair} read last. */
  low = 0;
  high = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.end = bytes.byteLength;
  }

  fail(kind: DecodeKind, detail: string): never {
    throw new DecodeError(kind, this.pos, detail);
  }

  get left(): number {
    return this.end - this.pos;
  }

  /** Skips `length` bytes and returns their offset. */
  take(length: number): number {
    if (length > this.left) this.fail('truncated', `expected ${length} bytes, ${this.left} left`);
    const start = this.pos;
    this.pos += length;
    return start;
  }

  byte(): number {
    if (this.pos >= this.end) this.fail('truncated', 'expected a byte, none left');
    return this.bytes[this.pos++]!;
  }

  /** Reads a varint as a number: exact up to 2^53 - 1, rounded but still larger than that beyond. */
  varint(): number {
    const pos = this.pos;
    if (pos < this.end) {
      const first = this.bytes[pos]!;
      if (first < 0x80) {
        this.pos = pos + 1;
        return first;
      }
    }
    return this.longVarint();
  }

  private longVarint(): number {
    let low = 0;
    let middle = 0;
    let high = 0;
    for (let index = 0; ; index++) {
      const byte = this.byte();
      const bits = byte & 0x7f;
      if (index < 4) low |= bits << (7 * index);
      else if (index < 8) middle |= bits << (7 * (index - 4));
      else if (index === 8) high = bits;
      else if (byte > 1) this.fail('varint', 'a varint is longer than 64 bits');
      else high |= bits << 7;
      if (byte < 0x80) return low + middle * TWO_28 + high * TWO_56;
    }
  }

  /** Reads a varint into {@link low} and {@link high}, two unsigned halves: exact for all 64 bits, without an allocation. */
  varintPair(): void {
    let low = 0;
    let high = 0;
    for (let index = 0; ; index++) {
      const byte = this.byte();
      const bits = byte & 0x7f;
      if (index < 4) {
        low |= bits << (7 * index);
      } else if (index === 4) {
        low |= bits << 28;
        high = bits >>> 4;
      } else if (index < 9) {
        high |= bits << (7 * index - 32);
      } else if (byte > 1) {
        this.fail('varint', 'a varint is longer than 64 bits');
      } else {
        high |= bits << 31;
      }
      if (byte < 0x80) break;
    }
    this.low = low >>> 0;
    this.high = high >>> 0;
  }

  /** Reads a varint exactly. It allocates, so it is for slow paths only. */
  varintBig(): bigint {
    this.varintPair();
    return (BigInt(this.high) << 32n) | BigInt(this.low);
  }
}

/** Decodes the zigzag encoding of a number below 2^53. */
export function unzigzag(folded: number): number {
  return folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
}

export function unzigzagBig(folded: bigint): bigint {
  return BigInt.asIntN(64, (folded >> 1n) ^ -(folded & 1n));
}
