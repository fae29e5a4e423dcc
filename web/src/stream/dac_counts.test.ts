import { expect, it } from 'vitest';
import { beganAt, CountBook, countsOf } from './dac_counts.ts';
import { parseGaps, parseServerMessage } from './protocol.ts';

const row = (id: number, missing: number, causes: Record<string, number> = {}) => ({
  id,
  received: 100,
  missing,
  causes,
});

it('does not count samples that a flight recorder kept back as missing', () => {
  const counts = countsOf(row(1, 90, { ring_full: 3, kept_back: 80, unexplained: 7, dropped_ring: 1 }));
  expect(counts).toEqual({
    received: 100,
    missing: 10,
    keptBack: 80,
    unexplained: 7,
    causes: [
      ['unexplained', 7],
      ['ring_full', 4],
    ],
  });
});

it('returns the counts of watched instances that are new, and those of newly watched ones', () => {
  const book = new CountBook();
  book.apply([row(1, 5), row(2, 0)]);
  const drained = (...watched: { id: number; isNew: boolean }[]) => [...book.drain(watched).keys()];
  expect(drained({ id: 1, isNew: true })).toEqual([1]);
  expect(drained({ id: 1, isNew: false })).toEqual([]);
  expect(drained({ id: 1, isNew: false }, { id: 2, isNew: true })).toEqual([2]);
  book.apply([row(1, 6)]);
  expect(drained({ id: 1, isNew: false }, { id: 2, isNew: false })).toEqual([1]);
  book.clear();
  expect(drained({ id: 1, isNew: true })).toEqual([]);
});

it('reads rows with and without causes, and leaves out what is none', () => {
  const rows = [[3, 10, 2, 7, { ring_full: 2 }], [4, 9, 0, 7], ['5', 1, 1, 1], 'x', [6]];
  const message = parseServerMessage(JSON.stringify({ op: 'statistics', nodes: [], instances: rows }));
  expect(message).toMatchObject({
    instances: [
      { id: 3, received: 10, missing: 2, causes: { ring_full: 2 } },
      { id: 4, received: 9, missing: 0, causes: {} },
    ],
  });
});

it('leaves out gaps that make no sense', () => {
  const gap = { from_sequence: 4, to_sequence: 6, count: 3, cause: 'dropped_ring', run: '' };
  expect(
    parseGaps([gap, { ...gap, count: 4 }, { ...gap, to_sequence: 3 }, { ...gap, count: 'x' }, 7]),
  ).toEqual([{ from: 4, to: 6, count: 3, cause: 'ring_full' }]);
  expect(parseGaps(undefined)).toEqual([]);
});

it('knows from an epoch when its DAC started', () => {
  const time = BigInt(Date.UTC(2026, 10, 27, 13, 10)) * 1_000_000n;
  expect(beganAt((time | 0xabcdn).toString(16))).toBe(Date.UTC(2026, 10, 27, 13, 10));
  for (const none of ['00000000000000ab', 'e1', '', 'zzzzzzzzzzzzzzzz'])
    expect(beganAt(none)).toBeUndefined();
});
