import type { Metric } from '@oasis/wire';
import { beforeEach, expect, it } from 'vitest';
import type { NewestWish } from '../past/newest.ts';
import { type Points, parsePoints } from '../past/points.ts';
import { Records } from '../series/records.ts';
import { SeriesStore } from '../series/store.ts';
import type { Answer, Query, Range } from './query.ts';
import { Views } from './views.ts';
import type { Watch } from './watch.ts';

/** A node whose clock is 100 ms behind the browser's, and a metric that counts seconds. */
const LAG = 100;
const TARGET = { node: 'plant', instance: 'pump' };
const METRICS: Metric[] = [{ name: 'count', type: 'uint64', kind: 'counter' }];

let wishes: { what: string; wish: object }[];
let watch: Partial<Watch>;
let views: Views;
/** What is left of samples that have gone. */
let rolled: Points | undefined;

/** What the DAC has: a sample each second from 0 on. */
function newest({ before, samples }: NewestWish) {
  const last = Math.ceil(before / 1000);
  const numbers = Array.from({ length: samples }, (_, index) => last - samples + index).filter((n) => n >= 0);
  return {
    samples: numbers.map((n) => ({
      sequence: `${n}`,
      offset: `${n}`,
      time: `${n * 1e9}`,
      state: 0,
      metrics: { count: `${n}` },
    })),
    isCut: numbers.length === samples,
  };
}

beforeEach(() => {
  wishes = [];
  rolled = undefined;
  watch = { key: 'pump', schema: { metrics: METRICS } as unknown as Watch['schema'] };
  views = new Views({
    watch: () => watch as Watch,
    lag: () => LAG,
    archive: {
      version: 0,
      leave: () => {},
      read: (_, __, variant, wish) => {
        wishes.push({ what: variant, wish });
        return { points: rolled, state: rolled ? 'ready' : 'none' };
      },
      readNewest: (_, __, variant, wish) => {
        wishes.push({ what: variant, wish });
        return { found: newest(wish), state: 'ready' };
      },
    },
  });
});

function ask(query: Query): Answer {
  views.show(1, query);
  return views.drain(100_000)[0].answer;
}

const until = (to: number, span = 5000): Range => ({ live: false, from: to - span, to });

function remember(times: readonly number[]): void {
  const records = new Records();
  const column = Float64Array.from(times, (time) => time / 1000);
  records.add(times[0] / 1000, Float64Array.from(times), [column as unknown as number[]]);
  const store = new SeriesStore(1, 1e6);
  store.append(Float64Array.from(times), [column]);
  watch.memory = { records, store, states: new Map(), seriesOf: () => 0, version: 1 } as never;
}

it('gives the sample that there was at a time, with the rate that it had', () => {
  const sample = { key: 'pump', sequence: 50, time: 50_000, state: 0, values: [50], rates: [] };
  watch.sample = sample;
  const moment = (to: number) => ask({ kind: 'moment', target: TARGET, range: until(to) });
  // Nothing has come since: nobody has to be asked.
  expect(moment(60_000)).toEqual({ kind: 'moment', sample, state: 'ready' });
  expect(wishes).toEqual([]);
  const then = { sequence: 7, time: 7000, values: [7], rates: [1] };
  expect(moment(7900)).toMatchObject({ kind: 'moment', sample: then });
  expect(moment(7100)).toMatchObject({ sample: then });
  expect(moment(7099)).toMatchObject({ sample: { sequence: 6 } });
  // Of one that is faster, enough samples for a second are wanted.
  watch = { ...watch, expectedRate: 20 };
  expect(moment(7900)).toMatchObject({ kind: 'moment', sample: then });
  expect(wishes.at(-1)?.wish).toMatchObject({ samples: 22 });
  expect(moment(50)).toEqual({ kind: 'moment', sample: undefined, state: 'none' });
});

it('gives the last value that roll-ups have where no sample is left', () => {
  const times = [-9000, -5000, 40];
  rolled = parsePoints(
    {
      event: 'points',
      level: '1m',
      times: times.map((time) => time * 1e6),
      samples: [9, 9, 9],
      metrics: { count: { min: [1, 2, 3], max: [1, 2, 3], last: [1, 2, 3] } },
    },
    null,
  );
  expect(ask({ kind: 'moment', target: TARGET, range: until(50) })).toMatchObject({
    sample: { time: -5000, values: [2], rates: [] },
    state: 'ready',
    level: '1m',
  });
});

it('lists what is remembered, and before that what the DAC has, none twice', () => {
  remember([8000, 9000, 10_000]);
  const lines = (range: Range, limit = 300) => {
    const answer = ask({ kind: 'records', targets: [TARGET], range, limit });
    if (answer.kind !== 'records') throw new Error(answer.kind);
    return { numbers: answer.lines.map(({ sequence }) => sequence), past: answer.past };
  };
  expect(lines(until(10_100, 2000))).toEqual({ numbers: [10, 9, 8], past: undefined });
  expect(wishes).toEqual([]);
  expect(lines(until(10_100))).toEqual({
    numbers: [10, 9, 8, 7, 6, 5],
    past: { state: 'ready', level: 'raw' },
  });
  expect(wishes[0].wish).toEqual({ before: 8000, samples: 300 });
  expect(lines(until(7600))).toMatchObject({ numbers: [7, 6, 5, 4, 3] });
  expect(lines(until(10_100), 4)).toMatchObject({ numbers: [10, 9, 8, 7], past: { newest: 4 } });
  expect(lines(until(10_100), 3)).toEqual({ numbers: [10, 9, 8], past: { state: 'ready', newest: 3 } });
});

it('says since when there are samples, where a distribution does not have all of its time', () => {
  remember([8000, 9000, 10_000]);
  const source = { target: TARGET, metrics: ['count'] };
  const of = (range: Range, what: 'values' | 'intervals') => {
    const answer = ask({ kind: 'histogram', source, of: what, bins: 4, range });
    return answer.kind === 'histogram' ? answer : undefined;
  };
  expect(of(until(10_100, 2000), 'values')?.past).toBeUndefined();
  expect(of(until(10_100), 'values')).toMatchObject({ histogram: { samples: 3 }, past: { since: 8100 } });
  expect(of({ live: true, span: 95_000 }, 'intervals')).toMatchObject({
    histogram: { samples: 2 },
    past: { state: 'none', since: 8100 },
  });
  // Intervals need neighbours: the newest of them.
  expect(of(until(10_100), 'intervals')).toMatchObject({ histogram: { samples: 4, mean: 1000 } });
  expect(wishes.at(-1)).toEqual({ what: 'intervals', wish: { before: 8000, samples: 1000 } });
});
