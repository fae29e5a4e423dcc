import { expect, it } from 'vitest';
import { evaluate } from './evaluate.ts';
import type { PlanNode } from './plan.ts';
import type { Signal } from './signal.ts';

const a: PlanNode = { op: 'input', index: 0 };
const b: PlanNode = { op: 'input', index: 1 };
const sum: PlanNode = { op: '+', left: a, right: b };

function signal(
  times: number[],
  values: number[],
  more: Partial<Signal> & { broken?: number[] } = {},
): Signal {
  const { broken = [], ...rest } = more;
  const breaks = Uint8Array.from(times, (_, index) => (broken.includes(index) ? 1 : 0));
  return {
    times: Float64Array.from(times),
    values: Float64Array.from(values),
    breaks,
    maxAge: 1000,
    until: Number.POSITIVE_INFINITY,
    ...rest,
  };
}

function rows({ times, values, breaks }: Signal) {
  return Array.from(times, (time, index) => [time, values[index], breaks[index]]);
}

it('holds the value of each instance until its next one', () => {
  const found = evaluate(sum, [signal([0, 100, 200], [1, 2, 3]), signal([50, 150], [10, 20])]);
  expect(rows(found)).toEqual([
    [0, Number.NaN, 0],
    [50, 11, 1],
    [100, 12, 0],
    [150, 22, 0],
    [200, 23, 0],
  ]);
});

it('has no value within a gap of one instance, nor after the greatest age', () => {
  const times = [0, 100, 200, 300, 400];
  const values = [1, 1, 1, 1, 1];
  const gap = evaluate(sum, [signal(times, values), signal([0, 100, 350], [1, 2, 3], { broken: [2] })]);
  expect(rows(gap)).toEqual([
    [0, 2, 0],
    [100, 3, 0],
    [200, Number.NaN, 0],
    [300, Number.NaN, 1],
    [350, 4, 1],
    [400, 4, 0],
  ]);
  const old = evaluate(sum, [signal(times, values), signal([0], [1], { maxAge: 150 })]);
  expect(Array.from(old.values)).toEqual([2, 2, Number.NaN, Number.NaN, Number.NaN]);
  const stopped = evaluate(sum, [signal(times, values), signal([0], [1], { until: 250 })]);
  expect(Array.from(stopped.values)).toEqual([2, 2, 2, Number.NaN, Number.NaN]);
});

it('keeps infinite samples of a metric alone, and leads no line through them', () => {
  const { POSITIVE_INFINITY, NEGATIVE_INFINITY, NaN: unknown } = Number;
  const samples = () => [signal([0, 100, 200, 300], [1, POSITIVE_INFINITY, NEGATIVE_INFINITY, 4])];
  const kept = [
    [0, 1, 0],
    [100, POSITIVE_INFINITY, 0],
    [200, NEGATIVE_INFINITY, 1],
    [300, 4, 1],
  ];
  expect(rows(evaluate(a, samples()))).toEqual(kept);
  expect(rows(evaluate({ op: 'scale', of: a, factor: 1, offset: 0 }, samples()))).toEqual(kept);
  const double: PlanNode = { op: '*', left: a, right: { op: 'number', value: 2 } };
  expect(Array.from(evaluate(double, samples()).values)).toEqual([2, unknown, unknown, 8]);
  const rate: PlanNode = { op: 'rate', of: a, isCounter: false };
  expect(
    Array.from(evaluate(rate, samples()).values).some((value) => Math.abs(value) === POSITIVE_INFINITY),
  ).toBe(false);
});

it('is unknown if an input is, or if the result is no number', () => {
  const shared = signal([0, 1, 2], [4, Number.NaN, -1]);
  const root = evaluate({ op: 'sqrt', of: a }, [shared]);
  expect(rows(root)).toEqual([
    [0, 2, 0],
    [1, Number.NaN, 0],
    [2, Number.NaN, 1],
  ]);
  const zero: PlanNode = { op: 'number', value: 0 };
  expect(evaluate({ op: '/', left: a, right: zero }, [shared]).values[0]).toBeNaN();
  expect(evaluate({ op: '^', left: a, right: zero }, [shared]).values[1]).toBeNaN();
  expect(evaluate({ op: 'min', args: [a, zero] }, [shared]).values[1]).toBeNaN();
});

it('derives an instance on its own time line', () => {
  const counter = signal([0, 1000, 2000, 3000], [0, 10, 30, 5]);
  const rate: PlanNode = { op: 'rate', of: a, isCounter: false };
  expect(Array.from(evaluate(rate, [counter]).values)).toEqual([Number.NaN, 10, 20, -25]);
  // A counter that decreases has restarted.
  expect(evaluate({ op: 'rate', of: a, isCounter: true }, [counter]).values[3]).toBeNaN();
  // The other instance's samples between them make no steps of zero.
  const both = evaluate({ op: '+', left: rate, right: b }, [counter, signal([1500], [0.5])]);
  expect(rows(both).slice(2, 4)).toEqual([
    [1500, 10.5, 1],
    [2000, 20.5, 0],
  ]);
});

it('averages a window, and begins anew after a gap', () => {
  const mean: PlanNode = { op: 'mean', of: a, window: 2000 };
  const found = evaluate(mean, [signal([0, 1000, 2000, 3000], [1, 3, 5, 9])]);
  expect(Array.from(found.values)).toEqual([1, 2, 4, 7]);
  const gap = evaluate(mean, [signal([0, 1000, 2000, 3000], [1, 3, 5, 9], { broken: [2] })]);
  expect(Array.from(gap.values)).toEqual([1, 2, 5, 7]);
  const unknown = evaluate(mean, [signal([0, 1000, 2000, 3000], [1, Number.NaN, 5, 9])]);
  expect(Array.from(unknown.values)).toEqual([1, Number.NaN, 5, 7]);
});

it('has no values without samples', () => {
  expect(evaluate(sum, [signal([], []), signal([], [])]).times).toHaveLength(0);
});
