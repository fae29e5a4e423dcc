import { expect, it } from 'vitest';
import type { Plan } from '../expressions/plan.ts';
import { Fleets } from '../fleet/fleets.ts';
import { SeriesStore } from '../series/store.ts';
import { latestAnswer, spectrumAnswer, statisticsAnswer, xyAnswer } from './computed_answer.ts';
import { posesAnswer } from './poses_answer.ts';
import type { Query } from './query.ts';
import type { Scene } from './scene.ts';
import { tracksAnswer } from './tracks_answer.ts';
import type { Watch } from './watch.ts';

const RANGE = { live: false, from: 0, to: 10_000 } as const;

/** An instance at 100 Hz with x = the time in seconds and y = a sine of 10 Hz, and a gap that the DAC has declared. */
function scene(to = 10_000): Scene {
  const store = new SeriesStore(2, 1e6);
  const times = Float64Array.from({ length: 1200 }, (_, index) => index * 10);
  const columns = [
    times.map((time) => time / 1000),
    times.map((time) => Math.sin((2 * Math.PI * 10 * time) / 1000)),
  ];
  const part = (from: number, until: number) =>
    store.append(
      times.slice(from, until),
      columns.map((column) => column.slice(from, until)),
    );
  part(0, 300);
  store.break();
  part(350, 1200);
  const gap = { from: 2990, to: 3500, cause: 'kernel_full', count: 50 };
  const names = ['x', 'y'];
  const memory = {
    store,
    gaps: [gap],
    series: names,
    seriesOf: (name: string) => names.indexOf(name),
    partsOf: () => undefined,
  };
  const watch = { memory, pace: 100, isTaking: true, lastingGap: () => undefined } as unknown as Watch;
  return {
    watch: () => watch,
    lag: () => 0,
    explain: (_, gaps) => gaps,
    fleets: new Fleets(() => 0),
    archive: {
      version: 0,
      closeView: () => {},
      timesOf: () => undefined,
      read: () => ({ points: undefined, state: 'none' }),
      readNewest: () => ({ found: undefined, state: 'ready' }),
    },
    view: 1,
    from: 0,
    to,
    isLive: false,
    now: to,
  };
}

function planOf(metric: string): Plan {
  return {
    inputs: [{ target: { node: 'n', instance: 'e' }, metric }],
    root: { op: 'input', index: 0 },
    before: 0,
  };
}

const query = <K extends 'xy' | 'statistics' | 'latest'>(kind: K, ...metrics: string[]) =>
  ({ kind, range: RANGE, expressions: metrics.map(planOf) }) as Query & { kind: K };

it('puts one expression over another, with a gap where samples are missing', () => {
  const { trace, gaps } = xyAnswer(scene(), query('xy', 'x', 'y'));
  expect(trace?.xs[0]).toBe(0);
  expect(trace?.xs.at(-1)).toBe(10);
  const broken = Array.from(trace?.breaks ?? []).flatMap((flag, index) => (flag ? trace?.xs[index] : []));
  expect(broken).toEqual([0, 3.5]);
  expect(gaps[0].cause).toBe('kernel_full');
  expect(xyAnswer(scene(), query('xy', 'x')).trace).toBeUndefined();
});

it('counts the samples of the time shown alone', () => {
  const { rows } = statisticsAnswer(scene(5000), query('statistics', 'x'));
  expect(rows[0]).toMatchObject({ count: 451, min: 0, max: 5, seconds: 5 });
  expect(rows[0].gaps).toEqual([{ from: 2990, to: 3500, cause: 'kernel_full', count: 50 }]);
});

it('knows the extremes of a metric also where its samples are folded', () => {
  const store = new SeriesStore(1, 1e6);
  const times = Float64Array.from({ length: 70_000 }, (_, index) => index);
  store.append(times, [times.map((time) => (time === 3001 ? 99 : 1))]);
  const memory = { store, gaps: [], series: ['x'], seriesOf: () => 0, partsOf: () => undefined };
  const watch = { memory, pace: 1000, isTaking: true, lastingGap: () => undefined } as unknown as Watch;
  const { rows, past } = statisticsAnswer({ ...scene(70_000), watch: () => watch }, query('statistics', 'x'));
  expect(rows[0]).toMatchObject({ min: 1, max: 99, mean: 1 });
  expect(rows[0].count).toBeLessThan(6000);
  expect(past?.step).toBeGreaterThan(10);
});

it('finds the last value at or before the end', () => {
  expect(latestAnswer(scene(7004), query('latest', 'x', 'y')).values[0]).toEqual({ time: 7000, value: 7 });
  expect(latestAnswer(scene(7004), query('latest', 'gone')).values).toEqual([undefined]);
});

it('transforms between gaps', () => {
  const { spectra } = spectrumAnswer(scene(), {
    kind: 'spectrum',
    range: RANGE,
    expressions: [planOf('y')],
    size: 512,
    window: 'hann',
  });
  const found = spectra[0];
  if (!found) throw new Error('no spectrum');
  expect([found.size, found.averaged, found.leftOut]).toEqual([512, 1, 1]);
  const peak = found.amplitudes.indexOf(Math.max(...found.amplitudes));
  expect(peak * found.step).toBeCloseTo(10, 0);
});

it('follows a track between gaps, with a color', () => {
  // x goes from 0 to 10 degrees, y is a sine: both are places.
  const answer = tracksAnswer(scene(), {
    kind: 'tracks',
    range: RANGE,
    tracks: [{ longitude: planOf('x'), latitude: planOf('y'), color: planOf('x') }],
  });
  const [track] = answer.tracks;
  expect(track.times.length).toBeGreaterThan(900);
  expect(track.times.at(-1)).toBe(10_000);
  expect(track.longitudes.at(-1)).toBe(10);
  expect(track.colors.at(-1)).toBe(10);
  expect([...track.headings].every(Number.isNaN)).toBe(true);
  const after = track.times.indexOf(3500);
  expect(track.breaks[after]).toBe(1);
  expect([...track.breaks].reduce((sum, each) => sum + each, 0)).toBe(2);
  expect(answer.gaps.map(({ count }) => count)).toContain(50);
});

it('follows a pose between gaps, with the attitude at each position', () => {
  const [x, y] = [planOf('x'), planOf('y')];
  const answer = posesAnswer(scene(), {
    kind: 'poses',
    range: RANGE,
    poses: [{ position: [x, y, x], attitude: [x, y, x, y] }, { position: [x, y, planOf('gone')] }],
  });
  const [track, other] = answer.tracks;
  expect(track.times.length).toBeGreaterThan(900);
  expect([track.times.at(-1), track.xs.at(-1), track.zs.at(-1)]).toEqual([10_000, 10, 10]);
  expect(track.quaternion.map((part) => part.at(-1))).toEqual([10, track.ys.at(-1), 10, track.ys.at(-1)]);
  expect(track.breaks[track.times.indexOf(3500)]).toBe(1);
  expect(track.unplaced).toBe(0);
  expect(answer.gaps.map(({ count }) => count)).toContain(50);
  // A coordinate that no sample has.
  expect(other.times.length).toBe(0);
  expect(other.unplaced).toBeGreaterThan(900);
});
