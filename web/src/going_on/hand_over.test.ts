import { expect, it } from 'vitest';
import type { Position } from '../stream/position.ts';
import { bounded, type HandOver, parseHandOver, parseTrail } from './hand_over.ts';

const NOW = 1_000_000_000;
const RUN = '0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11';

function position(sequence: unknown, run: unknown = RUN) {
  return {
    node: 'plant',
    instance: 'pump',
    run,
    sequence,
    epoch: '0f3c9a1e5d0c4a7e',
    offset: 40,
  } as Position;
}

const handOver: HandOver = {
  from: 'hall-1',
  at: NOW - 500,
  trail: [{ address: 'http://hall-1:7070', at: NOW - 500 }],
  positions: [position(41)],
};

it('reads what it has written', () => {
  expect(parseHandOver(JSON.parse(JSON.stringify(bounded(handOver))), NOW)).toEqual(handOver);
});

it('ignores old ones, those of the future, and what is none', () => {
  for (const bad of [
    null,
    [],
    {},
    { ...handOver, at: 'now' },
    { ...handOver, at: NOW + 1 },
    { ...handOver, at: NOW - 600_000 },
    { ...handOver, at: Number.NaN },
    { ...handOver, from: 7 },
  ])
    expect(parseHandOver(bad, NOW)).toBeUndefined();
});

it('keeps the good parts of a hand-over, within bounds', () => {
  const many = Array.from({ length: 5000 }, (_, sequence) => position(sequence + 1));
  const numbers = [position('x'), position(-1), position(0), position(1.5), position(2 ** 60)];
  const texts = [position(3, 'no run'), { ...position(3), epoch: 'x y' }, { ...position(3), offset: -1 }];
  const bad = [7, null, ...numbers, ...texts];
  const read = parseHandOver(
    { ...handOver, from: 'n'.repeat(5000), trail: [{ address: 7 }, 'x'], positions: [...bad, ...many] },
    NOW,
  );
  expect(read?.from).toHaveLength(100);
  expect(read?.trail).toEqual([]);
  expect(read?.positions.length).toBeLessThanOrEqual(200);
  expect(read?.positions.length).toBeGreaterThan(190);
  expect(bounded({ ...handOver, positions: many }).positions).toHaveLength(200);
});

it('reads a bounded number of stops', () => {
  const many = Array.from({ length: 1000 }, () => ({ address: 'http://a', at: NOW - 5 }));
  expect(parseTrail(many, NOW)).toHaveLength(6);
  expect(parseTrail('none', NOW)).toEqual([]);
  expect(parseTrail([{ address: 'a'.repeat(400), at: NOW - 5 }], NOW)).toEqual([]);
});
