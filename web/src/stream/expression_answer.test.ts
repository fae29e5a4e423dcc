import { expect, it } from 'vitest';
import type { Plan } from '../expressions/plan.ts';
import { Fleets } from '../fleet/fleets.ts';
import { parsePoints } from '../past/points.ts';
import { SeriesStore } from '../series/store.ts';
import { computedRows } from './expression_answer.ts';
import type { Scene } from './scene.ts';
import type { Watch } from './watch.ts';

/** The clock of this node is late. */
const LAG = 100;

interface Faked {
  readonly samples: readonly (readonly [time: number, value: number])[];
  readonly pace?: number | null;
  readonly isTaking?: boolean;
  readonly gaps?: readonly { from: number; to: number; cause: string; count: number }[];
  readonly points?: object;
  /** Whether numbers are within vectors and structs, of which no sample is in memory. */
  readonly hasParts?: boolean;
}

function scene(instances: Record<string, Faked>, from = 0, to = 10_000): Scene {
  const watches = new Map(
    Object.entries(instances).map(([name, { samples, pace = 10, isTaking = true, gaps = [], hasParts }]) => {
      const store = new SeriesStore(1, 1e6);
      let before = Number.NEGATIVE_INFINITY;
      for (const [time, value] of samples) {
        if (gaps.some((gap) => gap.from >= before && gap.to <= time && gap.from < time)) store.break();
        store.append(Float64Array.of(time), [[value]]);
        before = time;
      }
      const partsOf = () => (hasParts ? [] : undefined);
      const memory = { store, gaps, series: ['x'], seriesOf: () => 0, partsOf, version: 1 };
      return [name, { memory, pace, isTaking, lastingGap: () => undefined } as unknown as Watch];
    }),
  );
  return {
    watch: ({ instance }) => watches.get(instance),
    lag: () => LAG,
    explain: (_, gaps) => gaps,
    fleets: new Fleets(() => 0),
    archive: {
      version: 0,
      closeView: () => {},
      timesOf: () => undefined,
      read: (_, { instance }) => {
        const points = parsePoints(instances[instance]?.points, 10);
        return { points, state: points ? 'ready' : 'none' };
      },
      readNewest: () => ({ found: undefined, state: 'ready' }),
    },
    view: 1,
    from,
    to,
    isLive: true,
    now: to,
  };
}

function planOf(...names: string[]): Plan {
  const inputs = names.map((instance) => ({ target: { node: 'n', instance }, metric: 'x' }));
  const [root, ...others] = names.map((_, index) => ({ op: 'input' as const, index }));
  return {
    inputs,
    root: others.reduce<Plan['root']>((left, right) => ({ op: '+', left, right }), root),
    before: 0,
  };
}

const every = (step: number, count: number, value: number, from = 0) =>
  Array.from({ length: count }, (_, index) => [from + step * index, value] as const);

it('adds instances at the times of both, by the clock of the browser', () => {
  const { signal, gaps, past } = computedRows(
    scene({ a: { samples: every(100, 4, 1) }, b: { samples: every(100, 4, 10, 50) } }),
    planOf('a', 'b'),
    '0',
    100,
  );
  expect(Array.from(signal.times)).toEqual([100, 150, 200, 250, 300, 350, 400, 450]);
  expect(Array.from(signal.values)).toEqual([Number.NaN, ...new Array(7).fill(11)]);
  expect(gaps).toEqual([]);
  expect(past).toBeUndefined();
});

it('has the gaps of its inputs, with their causes', () => {
  const gap = { from: 100, to: 900, cause: 'node_offline', count: 0 };
  const b = { samples: [...every(100, 2, 1), ...every(100, 3, 1, 900)], gaps: [gap] };
  const { signal, gaps } = computedRows(
    scene({ a: { samples: every(100, 12, 1) }, b }),
    planOf('a', 'b'),
    '0',
    100,
  );
  expect(gaps).toEqual([{ ...gap, from: 200, to: 1000 }]);
  const unknown = Array.from(signal.times).filter((_, index) => Number.isNaN(signal.values[index]));
  expect(unknown).toEqual([300, 400, 500, 600, 700, 800, 900]);
});

it('marks the time after the greatest age of an input: 2.5 periods and half a second', () => {
  const { gaps } = computedRows(
    scene({ a: { samples: every(100, 30, 1) }, b: { samples: every(100, 5, 1) } }),
    planOf('a', 'b'),
    '0',
    100,
  );
  // The newest of b is 400; it counts until 1150 by the clock of its node.
  expect(gaps).toEqual([{ from: 1200, to: 3000, cause: 'no_value', count: 0 }]);
});

it('holds the value of a probe of changes, unless it is stopped or its node is gone', () => {
  const a = { samples: every(100, 30, 1) };
  const b = { samples: [[0, 5] as const], pace: null };
  const held = computedRows(scene({ a, b }), planOf('a', 'b'), '0', 100);
  expect(held.gaps).toEqual([]);
  expect(held.signal.values.at(-1)).toBe(6);
  const stopped = computedRows(scene({ a, b: { ...b, isTaking: false } }), planOf('a', 'b'), '0', 100);
  expect(stopped.gaps).toMatchObject([{ from: 600, cause: 'no_value' }]);
});

it('says how far the samples are apart that a long time is computed from', () => {
  const { signal, past } = computedRows(
    scene({ a: { samples: every(10, 40_000, 1) } }, 0, 400_000),
    planOf('a'),
    '0',
    100,
  );
  expect(signal.times.length).toBeLessThan(33_000);
  expect(past?.state).toBe('ready');
  expect(past?.step).toBeCloseTo(160, -1);
});

it('computes from the archive, and says what it has', () => {
  const nanos = (ms: number) => ms * 1e6;
  const points = {
    event: 'points',
    level: '1s',
    from: 0,
    to: nanos(4000),
    step: nanos(1000),
    times: [0, 1000, 2000, 3000].map(nanos),
    samples: [10, 10, 10, 10],
    metrics: { x: { min: [0, 0, 0, 0], max: [9, 9, 9, 9], last: [1, 2, 3, 4] } },
    gaps: [],
  };
  const { signal, past } = computedRows(
    scene({ a: { samples: every(100, 2, 7, 4000), points } }, 0, 5000),
    planOf('a'),
    '0',
    100,
  );
  expect(Array.from(signal.values)).toEqual([1, 2, 3, 4, 7, 7]);
  expect(past).toMatchObject({ state: 'ready', level: '1s' });
  expect(past?.step).toBeGreaterThan(0);
});

it('reads numbers within vectors and structs from the archive if memory has none', () => {
  const nanos = (ms: number) => ms * 1e6;
  const of = (...last: number[]) => ({ min: last, max: last, last });
  const points = {
    event: 'points',
    level: 'raw',
    from: 0,
    to: nanos(2000),
    step: nanos(1000),
    times: [0, 1000].map(nanos),
    samples: [1, 1],
    metrics: { 'q[0]': of(1, 2), 'q[3]': of(3, 4), 'pose.position.x': of(5, 6) },
    gaps: [],
  };
  const found = scene({ a: { samples: [], hasParts: true, points } }, 0, 5000);
  const target = { node: 'n', instance: 'a' };
  const valuesOf = (...inputs: readonly { metric: string; element?: string }[]) => {
    const { root } = planOf(...inputs.map(() => 'a'));
    const plan = { inputs: inputs.map((input) => ({ target, ...input })), root, before: 0 };
    return Array.from(computedRows(found, plan, '0', 100).signal.values);
  };
  expect(valuesOf({ metric: 'q[]', element: '0' })).toEqual([1, 2]);
  expect(valuesOf({ metric: 'q[]', element: '0' }, { metric: 'q[]', element: '3' })).toEqual([4, 6]);
  expect(valuesOf({ metric: 'pose.position.x' })).toEqual([5, 6]);
});

it('has no values of an instance that is not watched', () => {
  expect(computedRows(scene({}), planOf('a', 'b'), '0', 100).signal.times).toHaveLength(0);
});
