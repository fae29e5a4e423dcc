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
