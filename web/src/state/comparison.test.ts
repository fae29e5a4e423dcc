import { afterEach, expect, it, vi } from 'vitest';
import { formatChange } from '../format/number.ts';
import { type ComparedRow, compareTestRuns, perMinute, swapped } from './comparison.ts';
import type { TestRun } from './test_runs.ts';

afterEach(() => vi.unstubAllGlobals());

const run = (id: number) => ({ id, name: `${id}` }) as TestRun;

async function compared(summary: object, other: object | null) {
  vi.stubGlobal('document', { baseURI: 'http://dac/' });
  const instances = [{ node: 'arm-2', instance: 'motor', summary, with: other }];
  vi.stubGlobal('fetch', async () => Response.json({ instances, more: false }));
  return (await compareTestRuns(run(1), run(2))).instances[0];
}

const changes = (rows: readonly ComparedRow[]) =>
  rows.map(({ of, name, change }) => [
    `${of} ${name}`.trim(),
    change === undefined ? '' : formatChange(change).replace('\u202f', ' '),
  ]);

it('says how the second test run differs from the first, as the command line does', async () => {
  const metric = { name: 'load', unit: '%', min: 10, mean: 169, max: 200, increase: null };
  const one = { samples: 100, rate: 10, lost: { ring_full: 4 }, metrics: [metric] };
  const two = { samples: 50, rate: 10, lost: {}, metrics: [{ ...metric, mean: 187.8 }] };
  const { node, rows } = await compared(one, two);
  expect(node).toBe('arm-2');
  expect(changes(rows)).toEqual([
    ['samples', '\u221250.0 %'],
    ['rate', '0.0 %'],
    ['lost ring_full', ''],
    ['metric load', '+11.1 %'],
  ]);
  expect(rows[3].sides[0]).toEqual({ value: 169, range: [10, 200] });
});

it('takes counters by how far they have counted, and apart what never changed', async () => {
  const still = { min: 7, mean: 7, max: 7, increase: null };
  const counter = { min: 5, mean: 10, max: 15, increase: 10, increase_rate: 2.5 };
  const metrics = [
    { name: 'rx', unit: 'By', ...counter },
    { name: 'total', unit: 'KiBy', ...still },
    { name: 'limit', unit: null, ...still },
  ];
  const changed = { name: 'limit', unit: null, ...still, min: 8, mean: 8, max: 8 };
  const { rows, constants } = await compared({ metrics }, { metrics: [metrics[0], metrics[1], changed] });
  expect(constants).toEqual([{ name: 'total', unit: 'KiBy', value: 7 }]);
  expect(rows.slice(2)).toMatchObject([
    { name: 'rx', unit: 'By/s', sides: [{ value: 2.5, increase: 10 }, {}], change: 0 },
    { name: 'limit', sides: [{ value: 7 }, { value: 8 }] },
  ]);
  // Nothing is stored of the other one.
  const alone = await compared({ metrics: [metrics[0]] }, null);
  expect(alone.rows.at(-1)).toMatchObject({
    name: 'rx',
    sides: [{ value: 2.5 }, undefined],
    change: undefined,
  });
});

it('can be read the other way round, and per minute of each test run', async () => {
  vi.stubGlobal('document', { baseURI: 'http://dac/' });
  const summary = { samples: 120, rate: 10, lost: { ring_full: 4 }, metrics: [] };
  const instances = [
    { node: 'arm-2', instance: 'motor', summary, with: { ...summary, samples: 60, lost: {} } },
  ];
  vi.stubGlobal('fetch', async () => Response.json({ instances, more: false }));
  const long = { id: 1, name: 'long', started: 0, stopped: 120_000 } as TestRun;
  const goingOn = { id: 2, name: 'going on', started: 60_000 } as TestRun;
  const comparison = await compareTestRuns(long, goingOn);
  const other = swapped(comparison);
  expect(other.runs).toEqual([goingOn, long]);
  expect(changes(other.instances[0].rows)[0]).toEqual(['samples', '+100.0 %']);
  expect(swapped(other)).toEqual(comparison);
  const { rows } = perMinute(comparison, 120_000).instances[0];
  expect(rows.map(({ sides }) => sides)).toEqual([
    [{ value: 60 }, { value: 60 }],
    [{ value: 10 }, { value: 10 }],
    [{ value: 2 }, undefined],
  ]);
  expect(rows[0]).toMatchObject({ unit: '/min', change: 0 });
  // A test run without length has no count per minute.
  expect(perMinute(comparison, 60_000).instances[0].rows[0].sides[1]).toBeUndefined();
});
