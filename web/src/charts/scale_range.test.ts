import { expect, it } from 'vitest';
import { decades, ScaleRange, withEnds } from './scale_range.ts';

const { MAX_VALUE, MIN_VALUE } = Number;

it('grows at once and shrinks late, at any size of values', () => {
  for (const unit of [1, 1e-97, 1e-310, 1e300]) {
    const range = new ScaleRange();
    const [, first] = range.fit(0, unit);
    expect(first).toBeGreaterThan(unit);
    expect(range.fit(0, 0.7 * unit)).toEqual([0, first]);
    expect(range.fit(0, 1.5 * unit)[1]).toBeGreaterThan(1.5 * unit);
    expect(range.fit(0, 0.5 * unit)[1]).toBeLessThan(unit);
  }
});

it('follows values that change in their last digits', () => {
  const range = new ScaleRange();
  range.fit(1e15, 1e15 + 1000);
  const [low, high] = range.fit(1e15, 1e15 + 2);
  expect(high - low).toBeLessThan(3);
});

it('is finite and keeps its range while there are no values', () => {
  const range = new ScaleRange();
  const none = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY] as const;
  expect(range.fit(...none)).toEqual([0, 1]);
  expect(range.fit(-MAX_VALUE, MAX_VALUE)).toEqual([-MAX_VALUE, MAX_VALUE]);
  expect(range.fit(...none)).toEqual([-MAX_VALUE, MAX_VALUE]);
  expect(range.fit(Number.NaN, Number.NaN)).toEqual([-MAX_VALUE, MAX_VALUE]);
  // The widest of all ranges shrinks, too.
  expect(range.fit(0, 1)[1]).toBeLessThan(2);
});

it('begins and ends with whole decades, as far as there are numbers', () => {
  expect(decades(3, 400)).toEqual([1, 1000]);
  expect(decades(2e-97, 3e-96)).toEqual([1e-97, 1e-95]);
  expect(decades(MIN_VALUE, 1e-320)).toEqual([MIN_VALUE, 1e-320]);
  expect(decades(1e300, MAX_VALUE)).toEqual([1e300, MAX_VALUE]);
  expect(decades(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY)).toEqual([1, 10]);
});

it('has chosen ends, and a width where all values are beyond them', () => {
  expect(withEnds([0, 5], { min: 1 })).toEqual([1, 5]);
  expect(withEnds([0, 5], { min: 8 })).toEqual([8, 9]);
  expect(withEnds([0, 5], { max: -1 })).toEqual([-2, -1]);
  expect(withEnds([1, 10], { min: -5 }, true)).toEqual([1, 10]);
  expect(withEnds([1, 10], { max: -5 }, true)).toEqual([1, 10]);
  for (const end of [MAX_VALUE, -MAX_VALUE, 1e300, -1e300, MIN_VALUE])
    for (const isLogarithmic of [false, true])
      for (const axis of [{ min: end }, { max: end }]) {
        const [low, high] = withEnds([1, 2], axis, isLogarithmic);
        expect(low < high && Number.isFinite(low) && Number.isFinite(high)).toBe(true);
        if (isLogarithmic) expect(low).toBeGreaterThan(0);
      }
});
