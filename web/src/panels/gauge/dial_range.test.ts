import { expect, it } from 'vitest';
import { dialRange } from './dial_range.ts';

const { MAX_VALUE } = Number;

it('has a round end above the value and its limits', () => {
  expect(dialRange({}, 42)).toEqual([0, 100]);
  expect(dialRange({}, -4)).toEqual([-5, 5]);
  expect(dialRange({ alarm: { above: 300 } }, 42)).toEqual([0, 500]);
  expect(dialRange({ min: 0, max: 10 }, 42)).toEqual([0, 10]);
  expect(dialRange({}, 0)).toEqual([0, 1]);
  expect(dialRange({ min: 5 }, 3)).toEqual([5, 6]);
});

it('is true to values at the ends of their range', () => {
  expect(dialRange({}, 1.1e-97)).toEqual([0, 5e-97]);
  expect(dialRange({}, 1e300)).toEqual([0, 5e300]);
  expect(dialRange({}, MAX_VALUE)).toEqual([0, MAX_VALUE]);
  expect(dialRange({}, -MAX_VALUE)).toEqual([-MAX_VALUE, MAX_VALUE]);
  for (const value of [5e-324, 1e-323, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN]) {
    const [low, high] = dialRange({}, value);
    expect(low < high && Number.isFinite(low) && Number.isFinite(high)).toBe(true);
  }
  expect(dialRange({ min: 1e300 }, 0)[1]).toBeGreaterThan(1e300);
});
