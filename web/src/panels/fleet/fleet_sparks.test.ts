import { expect, it } from 'vitest';
import { POINTS } from '../../fleet/query.ts';
import { trace } from './fleet_sparks.ts';

const PLACE = { x: 0, y: 0, width: POINTS - 1, height: 22, series: 0, color: 0 };

/** Draws values, unknown ones after them, and returns the lines as points. */
function lines(...values: number[]): [number, number][][] {
  const drawn: [number, number][][] = [];
  const all = new Float64Array(POINTS).fill(Number.NaN);
  all.set(values);
  trace({ moveTo: (x, y) => drawn.push([[x, y]]), lineTo: (x, y) => drawn.at(-1)?.push([x, y]) }, PLACE, all);
  return drawn;
}

it('draws a line at any size of its values', () => {
  const { MAX_VALUE } = Number;
  for (const [low, high] of [
    [0, 1],
    [6.1e-101, 1.1e-97],
    [5e-324, 1.5e-323],
    [-MAX_VALUE, MAX_VALUE],
    [1e15, 1e15 + 1],
  ]) {
    expect(lines(low, high)).toEqual([
      [
        [0, 21],
        [1, 21],
        [1, 1],
      ],
    ]);
  }
});

it('breaks a line at an infinite value, and marks it at its edge', () => {
  expect(lines(0, Number.POSITIVE_INFINITY, 1, Number.NEGATIVE_INFINITY)).toEqual([
    [
      [0, 21],
      [1, 21],
    ],
    [
      [1, 0],
      [1, 3],
    ],
    [
      [2, 1],
      [3, 1],
    ],
    [
      [3, 22],
      [3, 19],
    ],
  ]);
});
