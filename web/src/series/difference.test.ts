import { expect, it } from 'vitest';
import { type Curve, differenceOf } from './difference.ts';

function curve(
  points: readonly (readonly [place: number, value: number])[],
  breaks: readonly number[] = [],
): Curve {
  return {
    count: points.length,
    place: (column) => points[column][0],
    value: (column) => points[column][1],
    isBroken: (column) => breaks.includes(column),
  };
}

const ramp = curve([
  [0, 0],
  [10, 10],
  [20, 20],
  [30, 30],
]);

it('subtracts the first curve from the second at the places of the first', () => {
  const second = curve([
    [0, 5],
    [15, 20],
    [30, 35],
  ]);
  const { places, values } = differenceOf(ramp, second, false);
  expect([...places]).toEqual([0, 10, 20, 30]);
  expect([...values]).toEqual([5, 5, 5, 5]);
  // A value that stays until the next one is not on the way to it.
  expect([...differenceOf(ramp, second, true).values]).toEqual([5, -5, 0, 5]);
});

it('has no value before, after, or in a gap of the second curve', () => {
  const second = curve(
    [
      [10, 1],
      [12, 1],
      [25, 1],
    ],
    [2],
  );
  expect([...differenceOf(ramp, second, false).values]).toEqual([Number.NaN, -9, Number.NaN, Number.NaN]);
  expect([...differenceOf(ramp, curve([]), false).values]).toEqual(Array(4).fill(Number.NaN));
});
