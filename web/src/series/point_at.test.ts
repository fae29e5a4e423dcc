import { expect, it } from 'vitest';
import { pointAt } from './point_at.ts';

it('finds the last point at or before a time, and none in a gap', () => {
  const points = { times: Float64Array.of(10, 20, 50, 60), breaks: Uint8Array.of(1, 0, 1, 0) };
  const at = (time: number, isOver = false) => pointAt(points, time, isOver);
  expect([9, 10, 19, 20].map((time) => at(time))).toEqual([-1, 0, 0, 1]);
  expect([21, 49, 50, 55].map((time) => at(time))).toEqual([-1, -1, 2, 2]);
  expect([at(60, true), at(70), at(70, true)]).toEqual([3, 3, -1]);
});
