import { expect, it } from 'vitest';
import { samplesIn } from './count.ts';

/** Bytes of numbers, texts and 64-bit integers (little end first). */
function bytes(...parts: readonly (number | bigint | string)[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(
    parts.flatMap((part) => {
      if (typeof part === 'string') return [...part].map((letter) => letter.charCodeAt(0));
      if (typeof part === 'number') return [part];
      return Array.from({ length: 8 }, (_, index) => Number((part >> BigInt(8 * index)) & 255n));
    }),
  );
}

it('reads the statistics of an MCAP file', async () => {
  const data = bytes('\x89MCAP0\r\n', 0x0f, 4n, 0, 0, 0, 0);
  // Channel 1 is about gaps, channel 2 about samples. The counts of the statistics come last.
  const others = [...Array<number>(18).fill(0), 0n, 0n] as const;
  const counts = [20, 0, 0, 0, 1, 0, 3n, 2, 0, 70_000n] as const;
  const channel = (id: number, topic: string) =>
    bytes(0x04, BigInt(8 + topic.length), id, 0, 0, 0, topic.length, 0, 0, 0, topic);
  const statistics = bytes(0x0b, 66n, 70_003n, ...others, ...counts);
  const summary = await new Blob([
    bytes(0x03, 2n, 0, 0),
    channel(1, '/oasis/missing'),
    channel(2, '/pump'),
    statistics,
  ]).bytes();
  const footer = bytes(0x02, 20n, BigInt(data.length), 0n, 0, 0, 0, 0, '\x89MCAP0\r\n');
  expect(await samplesIn('mcap', new Blob([data, summary, footer]))).toBe(70_000);
  expect(await samplesIn('mcap', new Blob([data, footer]))).toBeUndefined();
  expect(await samplesIn('mcap', new Blob([bytes('short')]))).toBeUndefined();
});

it('reads the rows of a Parquet file', async () => {
  // Version 1; a list of a struct with a truth value, a text that looks like fields, and a number; 300 rows.
  const metadata = [
    0x15,
    2,
    0x19,
    0x1c,
    0x11,
    0x18,
    4,
    '\x16\x02\x00\x00',
    0x15,
    4,
    0,
    0x16,
    0xd8,
    4,
    0,
  ] as const;
  const end = bytes(...metadata, metadata.length + 3, 0, 0, 0, 'PAR1');
  expect(await samplesIn('parquet', new Blob([bytes('PAR1'), end]))).toBe(300);
  expect(await samplesIn('parquet', new Blob([bytes('PAR1', 0, 9, 0, 0, 0, 'PAR1')]))).toBeUndefined();
});

it('refuses what is no Arrow stream', async () => {
  expect(await samplesIn('arrow', new Blob([bytes('PAR1', 0n)]))).toBeUndefined();
  expect(await samplesIn('arrow', new Blob([]))).toBe(0);
});
