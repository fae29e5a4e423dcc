import { expect, it } from 'vitest';
import { figuresOf } from './statistics.ts';

it('counts what is known', () => {
  const found = figuresOf(Float64Array.of(4, Number.NaN, 2, 6, 8, 10));
  expect(found).toMatchObject({ count: 5, mean: 6, min: 2, max: 10 });
  expect(found.deviation).toBeCloseTo(Math.sqrt(10), 12);
  expect(found.percentiles).toEqual([2.4, 6, 9.6, 9.92].map((value) => expect.closeTo(value, 9)));
});

it('keeps the digits of a small deviation of large numbers', () => {
  const values = Float64Array.from({ length: 1000 }, (_, index) => 1e9 + (index % 2) * 1e-3);
  expect(figuresOf(values).deviation).toBeCloseTo(0.0005, 6);
});

it('has no figures without values, and no deviation of one', () => {
  expect(figuresOf(new Float64Array())).toMatchObject({ count: 0, mean: Number.NaN, max: Number.NaN });
  expect(figuresOf(Float64Array.of(3))).toMatchObject({ count: 1, mean: 3, deviation: Number.NaN, min: 3 });
});

it('has a mean and a deviation of values at the ends of their range', () => {
  const { MAX_VALUE } = Number;
  const large = figuresOf(Float64Array.of(MAX_VALUE, MAX_VALUE, MAX_VALUE / 2, MAX_VALUE / 2));
  expect(large.mean / MAX_VALUE).toBeCloseTo(0.75, 12);
  expect(large.deviation / MAX_VALUE).toBeCloseTo(Math.sqrt(1 / 12), 12);
  expect(figuresOf(Float64Array.of(-MAX_VALUE, MAX_VALUE)).percentiles[1]).toBe(0);
  const both = figuresOf(
    Float64Array.from({ length: 280 }, (_, index) => [MAX_VALUE, -MAX_VALUE][index % 2]),
  );
  expect(both).toMatchObject({ mean: 0, deviation: MAX_VALUE, infinite: 0 });
  const small = figuresOf(Float64Array.of(1e-300, 3e-300));
  expect(small.deviation).toBeCloseTo(Math.SQRT2 * 1e-300, 310);
  expect(small.deviation).toBeGreaterThan(0);
  expect(figuresOf(Float64Array.of(0, 1e-323)).deviation).toBeGreaterThan(0);
});

it('counts infinite values as values', () => {
  const found = figuresOf(Float64Array.of(1, 2, Number.POSITIVE_INFINITY));
  expect(found).toMatchObject({
    count: 3,
    infinite: 1,
    mean: Number.POSITIVE_INFINITY,
    min: 1,
    max: Number.POSITIVE_INFINITY,
  });
  expect(found.percentiles[1]).toBe(2);
});
