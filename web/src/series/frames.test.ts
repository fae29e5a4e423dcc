import { expect, it } from 'vitest';
import { Frames } from './frames.ts';

const png = (length: number) => new Uint8Array(length).fill(7);

it('finds the last image at or before a time', () => {
  const frames = new Frames('image/png');
  for (const number of [1, 2, 3]) frames.add(number, 100 * number, png(50));
  expect(frames.at(99)).toBeUndefined();
  expect(frames.at(100)?.sequence).toBe(1);
  expect(frames.at(299)?.sequence).toBe(2);
  expect(frames.at(1e9)).toMatchObject({ sequence: 3, bytes: 50 });
});

it('evicts and counts the oldest beyond its bytes, and keeps the newest', () => {
  const frames = new Frames('image/png', 120);
  for (const number of [1, 2, 3]) frames.add(number, number, png(50));
  expect(frames.kept).toEqual({ frames: 2, bytes: 100, evicted: 1 });
  expect(frames.at(1)).toBeUndefined();
  frames.add(4, 4, png(500));
  expect(frames.kept).toEqual({ frames: 1, bytes: 500, evicted: 3 });
});

it('evicts the oldest of many empty files, which have no bytes', () => {
  const frames = new Frames('image/png');
  for (let number = 1; number <= 4100; number++) frames.add(number, number, png(0));
  expect(frames.kept).toEqual({ frames: 4096, bytes: 0, evicted: 4 });
});

it('keeps a copy of its bytes', async () => {
  const frames = new Frames('image/png');
  const bytes = png(50);
  frames.add(1, 1, bytes);
  bytes.fill(0);
  const file = frames.at(1)?.file;
  expect(file?.type).toBe('image/png');
  expect(new Uint8Array((await file?.arrayBuffer()) ?? new ArrayBuffer(0))).toEqual(png(50));
});
