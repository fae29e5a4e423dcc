import type { Metric } from '@oasis/wire';
import { beforeEach, expect, it } from 'vitest';
import { Fleets } from '../fleet/fleets.ts';
import type { NewestRequest } from '../past/newest.ts';
import { type Points, parsePoints } from '../past/points.ts';
import { blockRoom, Columns, reduceColumns } from '../series/columns.ts';
import { Records } from '../series/records.ts';
import { StateRuns } from '../series/states.ts';
import { SeriesStore } from '../series/store.ts';
import type { Answer, Query, Range } from './query.ts';
import { Views } from './views.ts';
import type { Watch } from './watch.ts';

/** A node whose clock is 100 ms late, and a metric that counts seconds. */
const LAG = 100;
const TARGET = { node: 'plant', instance: 'pump' };
const METRICS: Metric[] = [{ name: 'count', type: 'uint64', kind: 'counter' }];

let requests: { what: string; request: object }[];
let watch: Partial<Watch>;
let views: Views;
/** The roll-ups of evicted samples. */
let rolled: Points | undefined;

/** The DAC's samples: one each second from 0 on. */
function newest({ before: wanted, samples: count, ahead = { time: 0, samples: 0 } }: NewestRequest) {
  const [before, samples] = [wanted + ahead.time, count + ahead.samples];
  const last = Math.ceil(Math.min(before, 100_000) / 1000);
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
    before,
  };
}

beforeEach(() => {
  requests = [];
  rolled = undefined;
  watch = {
    key: 'pump',
    schema: { metrics: METRICS } as unknown as Watch['schema'],
    lastingGap: () => undefined,
  };
  views = new Views({
    watch: () => watch as Watch,
    lag: () => LAG,
    explain: (_, gaps) => gaps,
    fleets: new Fleets(() => 0),
    archive: {
      version: 0,
      closeView: () => {},
      timesOf: () => undefined,
      read: (_, __, variant, request) => {
        requests.push({ what: variant, request });
        return { points: rolled, state: rolled ? 'ready' : 'none' };
      },
      readNewest: (_, __, variant, request) => {
        requests.push({ what: variant, request });
        return { found: newest(request), state: 'ready' };
      },
    },
  });
});

function answerOf(query: Query): Answer {
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

it('returns the sample at a time, with its rate', () => {
  const sample = { key: 'pump', sequence: 50, time: 50_000, state: 0, values: [50], rates: [] };
  watch.sample = sample;
  const moment = (to: number) => answerOf({ kind: 'moment', target: TARGET, range: until(to) });
  // No sample came since: no request is needed.
  expect(moment(60_000)).toEqual({ kind: 'moment', sample, state: 'ready' });
  expect(requests).toEqual([]);
  const then = { sequence: 7, time: 7000, values: [7], rates: [1] };
  expect(moment(7900)).toMatchObject({ kind: 'moment', sample: then });
  expect(moment(7100)).toMatchObject({ sample: then });
  expect(moment(7099)).toMatchObject({ sample: { sequence: 6 } });
  // A faster instance needs enough samples for one second.
  watch = { ...watch, expectedRate: 20 };
  expect(moment(7900)).toMatchObject({ kind: 'moment', sample: then });
  expect(requests.at(-1)?.request).toMatchObject({ samples: 22 });
  expect(moment(50)).toEqual({ kind: 'moment', sample: undefined, state: 'none' });
});

it('returns the last value of roll-ups if no samples are left', () => {
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
  expect(answerOf({ kind: 'moment', target: TARGET, range: until(50) })).toMatchObject({
    sample: { time: -5000, values: [2], rates: [] },
    state: 'ready',
    level: '1m',
  });
});

it('lists samples in memory and older ones of the DAC, none twice', () => {
  remember([8000, 9000, 10_000]);
  const lines = (range: Range, limit = 300) => {
    const answer = answerOf({ kind: 'records', targets: [TARGET], range, limit });
    if (answer.kind !== 'records') throw new Error(answer.kind);
    return { numbers: answer.lines.map(({ sequence }) => sequence), past: answer.past };
  };
  expect(lines(until(10_100, 2000))).toEqual({ numbers: [10, 9, 8], past: undefined });
  expect(requests).toEqual([]);
  expect(lines(until(10_100))).toEqual({
    numbers: [10, 9, 8, 7, 6, 5],
    past: { state: 'ready', level: 'raw' },
  });
  expect(requests[0].request).toEqual({ before: 8000, samples: 300 });
  expect(lines(until(7600))).toMatchObject({ numbers: [7, 6, 5, 4, 3] });
  expect(lines(until(10_100), 4)).toMatchObject({ numbers: [10, 9, 8, 7], past: { newest: 4 } });
  expect(lines(until(10_100), 3)).toEqual({ numbers: [10, 9, 8], past: { state: 'ready', newest: 3 } });
});

it('lists only samples with a value from a limit on, of all that a search reads', () => {
  remember([8000, 9000, 10_000]);
  const range = until(10_100);
  const atLeast = { metric: 'count', value: 7 };
  const answer = answerOf({ kind: 'records', targets: [TARGET], range, limit: 300, atLeast });
  if (answer.kind !== 'records') throw new Error(answer.kind);
  expect(answer.lines.map(({ sequence }) => sequence)).toEqual([10, 9, 8, 7]);
  expect(answer.searched).toBe(6);
  expect(requests[0].request).toEqual({ before: 8000, samples: 4000 });
  const other = answerOf({
    kind: 'records',
    targets: [TARGET],
    range,
    limit: 300,
    atLeast: { metric: 'x', value: 0 },
  });
  expect(other).toMatchObject({ lines: [] });
});

it('draws no state across a gap between archive and memory', () => {
  const modes = new StateRuns();
  modes.add(Float64Array.of(8000, 9000), [1, 1], false);
  const runs = (gaps: object[]) => {
    rolled = parsePoints(
      {
        event: 'points',
        level: 'raw',
        step: 1e9,
        times: [2000, 3000].map((time) => time * 1e6),
        samples: [1, 1],
        metrics: { mode: { min: [1, 1], max: [1, 1], last: [1, 1] } },
        gaps,
      },
      null,
    );
    watch.memory = { states: new Map([['mode', modes]]), store: { newest: 9000 } } as never;
    const sources = [{ target: TARGET, metrics: ['mode'] }];
    const answer = answerOf({ kind: 'states', sources, columns: 100, range: until(10_100, 10_000) });
    return answer.kind === 'states' ? answer.tracks[0].runs.map(({ from, to }) => [from, to]) : [];
  };
  expect(runs([])).toEqual([[2100, 9100]]);
  expect(runs([{ from: 3e9, to: 8e9, samples: 0, cause: 'node_restart' }])).toEqual([
    [2100, 3100],
    [8100, 9100],
  ]);
});

it('lists earlier samples on a live page', () => {
  watch.memory = { records: new Records(), version: 1 } as never;
  const range: Range = { live: true, span: 93_000 };
  const answer = answerOf({ kind: 'records', targets: [TARGET], range, limit: 5 });
  expect(requests).toEqual([
    { what: 'records 5', request: { before: Number.POSITIVE_INFINITY, samples: 5 } },
  ]);
  expect(answer.kind === 'records' && answer.lines.map(({ sequence }) => sequence)).toEqual([
    99, 98, 97, 96, 95,
  ]);
});

/** The archive's answer for a sample each second, at half seconds, as steps of two seconds. */
function stepPoints(from: number, to: number, until: number): Points | undefined {
  const byStep = new Map<number, number[]>();
  for (let time = from; time <= to; time += 1000) {
    const step = Math.floor(time / 2000);
    byStep.set(step, [...(byStep.get(step) ?? []), time]);
  }
  const found = [...byStep.values()];
  const of = (pick: (times: number[]) => number) => found.map((times) => pick(times) / 1000);
  const count = { min: of(([first]) => first), max: of(last), last: of(last) };
  return parsePoints(
    {
      event: 'points',
      level: '1s',
      step: 2e9,
      times: found.map((times) => last(times) * 1e6),
      samples: found.map(({ length }) => length),
      metrics: { count },
    },
    null,
    until,
  );
}

const last = (times: readonly number[]) => times[times.length - 1];

it('starts a live distribution with samples of the archive, and counts no sample twice', () => {
  const source = { target: TARGET, metrics: ['count'] };
  const live = () => {
    const range: Range = { live: true, span: 95_000 };
    const answer = answerOf({ kind: 'histogram', source, of: 'values', bins: 4, range });
    if (answer.kind !== 'histogram') throw new Error(answer.kind);
    return answer;
  };
  const since = (oldest: number) =>
    remember(Array.from({ length: (100_500 - oldest) / 1000 }, (_, index) => oldest + index * 1000));
  // The archive also has the samples in memory: 5.5 s to 99.5 s are 95 samples.
  for (const oldest of [60_500, 61_500]) {
    since(oldest);
    rolled = stepPoints(5500, 99_500, 99_500);
    const { histogram, past } = live();
    expect(histogram).toMatchObject({ of: 95, min: 5.5, max: 99.5 });
    expect(past).toEqual({ state: 'ready', level: '1s', step: 2000 });
    expect(requests.at(-1)).toMatchObject({
      what: 'sampled',
      request: { from: 4900, to: oldest, remembered: { oldest, newest: 99_500 } },
    });
  }
  // Samples that were taken after the request come from memory: half a step is missing then.
  rolled = stepPoints(5500, 60_500, 60_500);
  expect(live().histogram?.of).toBe(94);
  // A time that is in memory needs no request.
  since(1500);
  const before = requests.length;
  expect(live()).toMatchObject({ histogram: { of: 95 }, past: undefined });
  expect(requests).toHaveLength(before);
});

it('returns the start of the samples if a distribution lacks part of its time', () => {
  remember([8000, 9000, 10_000]);
  const source = { target: TARGET, metrics: ['count'] };
  const of = (range: Range, what: 'values' | 'intervals') => {
    const answer = answerOf({ kind: 'histogram', source, of: what, bins: 4, range });
    return answer.kind === 'histogram' ? answer : undefined;
  };
  expect(of(until(10_100, 2000), 'values')?.past).toBeUndefined();
  expect(of(until(10_100), 'values')).toMatchObject({ histogram: { samples: 3 }, past: { since: 8100 } });
  // Intervals need consecutive samples: the newest ones.
  expect(of({ live: true, span: 95_000 }, 'intervals')).toMatchObject({
    histogram: { samples: 4, mean: 1000 },
    past: { state: 'ready', level: 'raw' },
  });
  expect(of({ live: true, span: 92_500 }, 'intervals')).toMatchObject({
    histogram: { samples: 2 },
    past: { state: 'none', since: 8100 },
  });
  expect(of(until(10_100), 'intervals')).toMatchObject({ histogram: { samples: 4, mean: 1000 } });
  expect(requests.at(-1)).toEqual({ what: 'intervals', request: { before: 8000, samples: 1000 } });
});

it('reads the same sample at a time for a chart and for the values of an instance', () => {
  remember([80_000, 81_000, 82_000, 83_000]);
  Object.assign(watch.memory as object, { gaps: [], partsOf: () => undefined });
  watch.sample = { key: 'pump', sequence: 83, time: 83_000, state: 0, values: [83], rates: [] };
  const source = { target: TARGET, metrics: ['count'] };
  const at = (to: number) => {
    const values = answerOf({ kind: 'values', range: until(to, 1), sources: [source] });
    const moment = answerOf({ kind: 'moment', range: until(to), target: TARGET });
    const columns = answerOf({ kind: 'columns', range: until(to, 60_000), sources: [source], columns: 7 });
    if (values.kind !== 'values' || moment.kind !== 'moment' || columns.kind !== 'columns') throw new Error();
    const drawn = new Columns(columns.buffer, columns.blocks[0]);
    return [values.values[0]?.value, moment.sample?.values[0], drawn.last(drawn.at(to), 0)].map(Number);
  };
  for (const to of [81_100, 81_500, 82_099, 82_100, 90_000])
    expect(at(to)).toEqual(new Array(3).fill(Math.min(83, Math.floor((to - LAG) / 1000))));
  // Older ones are read from the DAC.
  const old = answerOf({ kind: 'values', range: until(7900, 1), sources: [source] });
  expect(old).toEqual({ kind: 'values', values: [{ time: 7000 + LAG, value: 7 }] });
});

it('has the exact value at the end of a time whose samples are folded', () => {
  const store = new SeriesStore(1, 1e9);
  const times = Float64Array.from({ length: 60_000 }, (_, index) => index);
  store.append(times, [times]);
  const buffer = new Float64Array(blockRoom(10, 1));
  for (const to of [59_999, 59_995.5, 59_001, 58_000]) {
    const columns = new Columns(
      buffer,
      reduceColumns(store, [0], { from: 0, to, columns: 10 }, 0, buffer, 0),
    );
    expect(columns.last(columns.at(to), 0)).toBe(Math.floor(to));
  }
});

it('finds the sample of a moment by the clock of its node, whatever offset is estimated now', () => {
  const sampleAt = (nodeTime?: number) => {
    const answer = answerOf({ kind: 'moment', range: until(81_700), target: TARGET, nodeTime });
    return answer.kind === 'moment' ? answer.sample?.time : undefined;
  };
  expect(sampleAt(7000)).toBe(7000);
  expect(sampleAt()).not.toBe(7000);
});

it('says of a moment that it lies in a gap: in memory, before missing samples of the DAC, and in a silence there', () => {
  const gap = { from: 81_000, to: 82_000, cause: 'ring_full', count: 3 };
  remember([80_000, 81_000, 82_000, 83_000]);
  Object.assign(watch.memory as object, { gaps: [gap] });
  watch.pace = 10;
  const gapOf = (to: number) => {
    const answer = answerOf({ kind: 'moment', range: until(to), target: TARGET });
    return answer.kind === 'moment' ? answer.gap : undefined;
  };
  expect(gapOf(81_100)).toBeUndefined();
  expect(gapOf(81_500)).toEqual({ ...gap, from: 81_000 + LAG, to: 82_000 + LAG });
  expect(gapOf(82_100)).toBeUndefined();
  // The DAC has a sample a second, of a probe that should take ten.
  expect(gapOf(7600)).toEqual({ from: 7000 + LAG, to: 8000 + LAG, cause: 'silent', count: 0 });
  watch.pace = 1;
  expect(gapOf(7600)).toBeUndefined();
});
