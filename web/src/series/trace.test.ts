import { expect, it } from 'vitest';
import { thin } from './trace.ts';

function circle(count: number) {
  const angle = (index: number) => (2 * Math.PI * index) / count;
  return {
    times: Float64Array.from({ length: count }, (_, index) => index),
    xs: Float64Array.from({ length: count }, (_, index) => Math.cos(angle(index))),
    ys: Float64Array.from({ length: count }, (_, index) => Math.sin(angle(index))),
    breaks: new Uint8Array(count),
  };
}

it('leaves out points that nobody could see apart, but not the newest', () => {
  const found = thin(circle(30_000));
  expect(found.times.length).toBeLessThan(8200);
  expect(found.times.length).toBeGreaterThan(2000);
  expect([found.times[0], found.times.at(-1)]).toEqual([0, 29_999]);
  expect(thin(circle(100)).times).toHaveLength(100);
});

it('draws no line over a gap or an unknown value', () => {
  const trace = circle(10);
  trace.xs[3] = Number.NaN;
  trace.breaks[7] = 1;
  const { times, breaks } = thin(trace);
  expect(Array.from(times)).toEqual([0, 1, 2, 4, 5, 6, 7, 8, 9]);
  expect(Array.from(breaks)).toEqual([1, 0, 0, 1, 0, 0, 1, 0, 0]);
});

it('keeps a point that stays where it is once', () => {
  const times = Float64Array.from({ length: 100 }, (_, index) => index);
  const still = new Float64Array(100).fill(5);
  expect(Array.from(thin({ times, xs: still, ys: still, breaks: new Uint8Array(100) }).times)).toEqual([
    0, 99,
  ]);
});

it('keeps infinite points, which no line leads to, and does not measure distances by them', () => {
  const trace = circle(10);
  trace.xs[3] = Number.POSITIVE_INFINITY;
  trace.ys[6] = Number.NEGATIVE_INFINITY;
  const { xs, ys, breaks } = thin(trace);
  expect(xs).toEqual(trace.xs);
  expect(ys).toEqual(trace.ys);
  expect(Array.from(breaks)).toEqual([1, 0, 0, 1, 1, 0, 1, 1, 0, 0]);
});

it('tells points apart at any size', () => {
  for (const size of [1e-320, 1e-97, 1e300, Number.MAX_VALUE]) {
    const trace = circle(20);
    const found = thin({ ...trace, xs: trace.xs.map((x) => x * size), ys: trace.ys.map((y) => y * size) });
    expect(found.times).toHaveLength(20);
  }
});
