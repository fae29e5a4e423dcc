import { expect, it } from 'vitest';
import { type Points, parsePoints } from './points.ts';
import { sampledOf } from './sampled.ts';
import { runsOf } from './state_runs.ts';

/** Steps of one second, with the times of their last samples in milliseconds. */
function points(times: readonly number[], samples: readonly number[], metrics: object): Points {
  const message = {
    event: 'points',
    level: '1s',
    from: 0,
    to: 10e9,
    step: 1e9,
    times: times.map((time) => time * 1e6),
    samples,
    metrics,
    gaps: [{ from: 3.5e9, to: 7.5e9, samples: 3, cause: 'node_dropped' }],
  };
  const found = parsePoints(message, null);
  if (!found) throw new Error('no points');
  return found;
}

const TIMES = [500, 1500, 2500, 3500, 7500];

it('converts points to states: one run while the state is unchanged, a run of its own for a step with several states', () => {
  const mode = { min: [0, 0, 0, 1, 1], max: [0, 0, 1, 1, 1], last: [0, 0, 1, 1, 1] };
  expect(runsOf(points(TIMES, [4, 4, 4, 4, 4], { mode }), 'mode', false, 9000)).toEqual([
    { from: 0, to: 2000, value: 0, isBroken: false },
    { from: 2000, to: 3000, value: 1, isBroken: false, isMixed: true },
    { from: 3000, to: 3500, value: 1, isBroken: false },
    // No state continues over a gap.
    { from: 7000, to: 7500, value: 1, isBroken: true },
  ]);
});

it('converts texts and booleans to states, up to the samples in memory', () => {
  const texts = points(TIMES, [1, 1, 1, 1, 1], { name: { last: ['a', 'a', 'b', null, 'b'] } });
  expect(runsOf(texts, 'name', false, 7000).map(({ value, from, to }) => [value, from, to])).toEqual([
    ['a', 0, 2000],
    ['b', 2000, 2500],
  ]);
  const column = [0, 1, 1, 1, 1];
  const open = points(TIMES, [1, 1, 1, 1, 1], { open: { min: column, max: column, last: column } });
  expect(runsOf(open, 'open', true, 7000).map(({ value }) => value)).toEqual([false, true]);
  expect(runsOf(open, 'other', false, 7000)).toEqual([]);
});

it('weights the last sample of each step, and returns minimum and maximum of all', () => {
  const load = { min: [-9, 0, 1, 2, 3], max: [5, 6, 7, 8, 99], last: [1, 2, null, 4, 5] };
  const found = sampledOf(points(TIMES, [10, 1, 1, 1, 1], { load }), ['load'], 0, 7500);
  expect([...found.columns[0]]).toEqual([1, 2, Number.NaN, 4]);
  expect([...found.weights]).toEqual([10, 1, 1, 1]);
  expect(found.extremes).toEqual([[-9, 8]]);
  expect(found.isThinned).toBe(true);
});

it('detects the silence of a probe of unknown rate from the intervals around it', () => {
  const gapsAt = (times: readonly number[]) =>
    parsePoints({ event: 'points', step: 10e6, times: times.map((ms) => ms * 1e6), metrics: {} }, 'unknown')
      ?.gaps;
  const every = (ms: number, count: number, from: number) =>
    Array.from({ length: count }, (_, index) => from + index * ms);
  // 5 Hz, switched off for 8 s, then one sample after 10 s.
  const times = [...every(200, 20, 0), ...every(200, 20, 11_800), ...every(10_000, 10, 25_600)];
  expect(gapsAt(times)).toEqual([{ from: 3800, to: 11_800, count: 0, cause: 'silent' }]);
  expect(gapsAt([0, 100, 9000])).toEqual([]);
});

it('detects the silence of a pushed probe in points as in live samples', () => {
  const gapsOf = (times: readonly number[]) =>
    parsePoints({ event: 'points', step: 100e6, times: times.map((ms) => ms * 1e6), metrics: {} }, 'steady')
      ?.gaps;
  const regular = Array.from({ length: 30 }, (_, index) => index * 100);
  expect(gapsOf([...regular, 4_560, 4_660])).toEqual([{ from: 2_900, to: 4_560, count: 0, cause: 'silent' }]);
  expect(gapsOf([...regular, 3_400, 3_500])).toEqual([]);
  expect(gapsOf([0, 900, 1_000, 2_300, 2_400, 4_000, 4_100, 4_200, 4_300, 9_000])).toEqual([]);
});
