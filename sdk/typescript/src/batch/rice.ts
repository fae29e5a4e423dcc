import { type Cursor, unzigzag, unzigzagBig } from '../cursor.ts';
import type { IntegerCodec } from './integers.ts';

const MAX_K = 56;
/** This number of one-bits announces a residual without compression. */
const ESCAPE = 24;
/** Widest `k` for which a residual of up to 23 whole parts stays below 2^53. */
const MAX_FAST_K = 48;

/** Residuals from the mean step, Golomb-Rice coded (native-batch.md, `rice`). */
export const rice: IntegerCodec = {
  fast(cursor, out) {
    const first = cursor.varint();
    if (first > Number.MAX_SAFE_INTEGER) return false;
    let value = unzigzag(first);
    out[0] = value;
    if (out.length === 1) return true;
    const folded = cursor.varint();
    if (folded > Number.MAX_SAFE_INTEGER) return false;
    const step = unzigzag(folded);
    const k = readK(cursor);
    if (k > MAX_FAST_K) return false;
    const bits = new BitReader(cursor);
    for (let index = 1; index < out.length; index++) {
      const residual = bits.residual(k);
      if (residual > Number.MAX_SAFE_INTEGER) return false;
      // Two checked additions: a single sum could return into range after rounding.
      const moved = step + unzigzag(residual);
      value += moved;
      if (
        !Number.isSafeInteger(moved) ||
        value > Number.MAX_SAFE_INTEGER ||
        value < Number.MIN_SAFE_INTEGER
      ) {
        return false;
      }
      out[index] = value;
    }
    bits.finish();
    return true;
  },

  exact(cursor, out) {
    let value = unzigzagBig(cursor.varintBig());
    out[0] = value;
    if (out.length === 1) return;
    const step = unzigzagBig(cursor.varintBig());
    const k = readK(cursor);
    const bits = new BitReader(cursor);
    for (let index = 1; index < out.length; index++) {
      value = BigInt.asIntN(64, value + step + unzigzagBig(bits.residualBig(k)));
      out[index] = value;
    }
    bits.finish();
  },
};

function readK(cursor: Cursor): number {
  const k = cursor.byte();
  if (k > MAX_K) cursor.fail('rice', `k is ${k}: expected at most ${MAX_K}`);
  return k;
}

/** Reads bits, from the least significant bit of each byte on. */
class BitReader {
  private readonly cursor: Cursor;
  private readonly bytes: Uint8Array;
  private readonly end: number;
  /** Position in bits; 8 times 1 MiB is far below the 31 bits of a shift. */
  private at: number;

  constructor(cursor: Cursor) {
    this.cursor = cursor;
    this.bytes = cursor.bytes;
    this.end = cursor.end * 8;
    this.at = cursor.pos * 8;
  }

  /** Reads a residual: exact up to 2^53 - 1, rounded but still larger than that beyond. */
  residual(k: number): number {
    const window = this.window();
    const ones = trailingOnes(window);
    if (ones >= ESCAPE) {
      this.skip(ESCAPE);
      const low = this.take(32);
      return low + this.take(32) * 2 ** 32;
    }
    // Nearly always the window of 25 bits contains the whole residual.
    if (ones + 1 + k <= 25) {
      this.skip(ones + 1 + k);
      return (ones << k) + ((window >>> (ones + 1)) & ((1 << k) - 1));
    }
    this.skip(ones + 1);
    return ones * 2 ** k + this.take(k);
  }

  residualBig(k: number): bigint {
    const ones = trailingOnes(this.window());
    if (ones >= ESCAPE) {
      this.skip(ESCAPE);
      return this.takeBig(64);
    }
    this.skip(ones + 1);
    return (BigInt(ones) << BigInt(k)) | this.takeBig(k);
  }

  /** Moves the cursor after the last byte, whose unused bits must be 0. */
  finish(): void {
    const used = this.at & 7;
    this.cursor.pos = (this.at + 7) >>> 3;
    if (used > 0 && this.bytes[this.cursor.pos - 1]! >>> used !== 0)
      this.cursor.fail('rice', 'unused bits are not zero');
  }

  /** Returns at least the next 25 bits, with zeros beyond the end; {@link skip} rejects those. */
  private window(): number {
    const index = this.at >>> 3;
    const bytes = this.bytes;
    if (index + 4 <= bytes.length) {
      const word =
        bytes[index]! | (bytes[index + 1]! << 8) | (bytes[index + 2]! << 16) | (bytes[index + 3]! << 24);
      return word >>> (this.at & 7);
    }
    let word = 0;
    for (let part = 0; index + part < bytes.length; part++) word |= bytes[index + part]! << (8 * part);
    return word >>> (this.at & 7);
  }

  private skip(bits: number): void {
    this.at += bits;
    if (this.at > this.end) {
      this.cursor.pos = this.cursor.end;
      this.cursor.fail('truncated', 'the bits end within a residual');
    }
  }

  /** Reads up to 53 bits as a number, or 64 bits if rounding is acceptable. */
  private take(bits: number): number {
    let value = 0;
    for (let done = 0; done < bits; ) {
      const part = Math.min(24, bits - done);
      value += (this.window() & ((1 << part) - 1)) * 2 ** done;
      this.skip(part);
      done += part;
    }
    return value;
  }

  private takeBig(bits: number): bigint {
    const low = this.take(Math.min(bits, 32));
    const high = bits > 32 ? this.take(bits - 32) : 0;
    return (BigInt(high) << 32n) | BigInt(low);
  }
}

function trailingOnes(word: number): number {
  const zeros = ~word;
  return zeros === 0 ? 32 : 31 - Math.clz32(zeros & -zeros);
}
