import type { Batch, Metric } from '@oasis/wire';
import { expect, it } from 'vitest';
import { StateRuns } from '../series/states.ts';
import { withoutPlaceholders } from './absent.ts';

const METRICS: Metric[] = [
  { name: 'rpm', type: 'int32' },
  { name: 'time', type: 'uint8' },
  { name: 'note', type: 'string' },
  { name: 'oasis.absent', type: { vector: 'string' } },
];

function batch(absent: readonly string[][]): Batch {
  const metrics = [Int32Array.of(5, 0, 7), Uint8Array.of(1, 2, 0), ['a', '', 'c'], absent];
  return { metrics } as unknown as Batch;
}

it('leaves out what samples lack', () => {
  const { metrics } = withoutPlaceholders(batch([[], ['rpm', 'note', 'none'], ['time_2']]), METRICS);
  expect(metrics.slice(0, 3)).toEqual([
    [5, undefined, 7],
    [1, 2, undefined],
    ['a', undefined, 'c'],
  ]);
});

it('keeps the columns of samples that have all values', () => {
  const whole = batch([[], [], []]);
  expect(withoutPlaceholders(whole, METRICS).metrics[0]).toBe(whole.metrics[0]);
  expect(withoutPlaceholders(whole, METRICS.slice(0, 3))).toBe(whole);
});

it('ends a state at a sample that lacks it', () => {
  const runs = new StateRuns();
  runs.add(Float64Array.of(0, 10, 20), [1, undefined, 1], false);
  expect(runs.between(0, 20)).toEqual([
    { from: 0, to: 0, value: 1, isBroken: false },
    { from: 20, to: 20, value: 1, isBroken: true },
  ]);
});

it('takes no other metric for the list', () => {
  const metrics: Metric[] = [{ name: 'oasis.absent', type: 'int32' }];
  const other = { metrics: [Int32Array.of(1)] } as unknown as Batch;
  expect(withoutPlaceholders(other, metrics)).toBe(other);
});
