import type { ProbeCodec } from '../codec.ts';
import { ByteReader } from './byte_reader.ts';
import { ByteWriter } from './byte_writer.ts';

/** Writes packed rows: little-endian, without alignment (native-batch.md, `rows`). */
export class RowWriter extends ByteWriter {
  constructor() {
    super(true);
  }

  protected override align(): void {}

  protected override count(count: number): void {
    const bytes: number[] = [];
    let left = count;
    // Shifts work on 32 bits only.
    for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) + 0x80);
    bytes.push(left);
    this.octets(bytes);
  }

  protected override text(encoded: Uint8Array): void {
    this.count(encoded.length);
    this.octets(encoded);
  }
}

/** Reads packed rows. */
export class RowReader extends ByteReader {
  constructor(bytes: Uint8Array) {
    super(bytes, true);
  }

  protected override align(): void {}

  protected override count(): number {
    return this.cursor.varint();
  }

  override string(): string {
    const length = this.cursor.varint();
    return this.text(this.cursor.take(length), length);
  }
}

/** Encodes a sample as a packed row, as a node has it in memory. */
export function toRow<T>(sample: T, of: ProbeCodec<T>): Uint8Array<ArrayBuffer> {
  const row = new RowWriter();
  of.write(sample, row);
  return row.bytes();
}

/** Decodes a sample; `row` must contain nothing else. */
export function fromRow<T>(row: Uint8Array, of: ProbeCodec<T>): T {
  const source = new RowReader(row);
  const sample = of.read(source);
  source.finish();
  return sample;
}
