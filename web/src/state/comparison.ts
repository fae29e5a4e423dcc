import { fetchJson } from '../api/api.ts';
import { type Fields, isFields, listOf } from '../wire/fields.ts';
import type { TestRun } from './test_runs.ts';

/** Two test runs side by side (http-api.md, "comparison"), worded like `oasis run compare`. */
export interface Comparison {
  readonly runs: readonly [first: TestRun, second: TestRun];
  readonly instances: readonly ComparedInstance[];
  /** Whether some instances are left out. */
  readonly hasMore: boolean;
}

export interface ComparedInstance {
  readonly node: string;
  readonly instance: string;
  readonly rows: readonly ComparedRow[];
  /** Metrics with one constant value in all their instances. */
  readonly constants: readonly { readonly name: string; readonly unit: string; readonly value: number }[];
}

export interface ComparedRow {
  /** Samples, their rate, samples lost for a cause, or a metric. */
  readonly of: 'samples' | 'rate' | 'lost' | 'metric';
  /** The cause, or the name of the metric; empty for others. */
  readonly name: string;
  readonly unit: string;
  readonly sides: readonly [first: Figures | undefined, second: Figures | undefined];
  /** Change from the first to the second in percent of the first; undefined if the first is 0 or missing. */
  readonly change: number | undefined;
}

export interface Figures {
  /** The figure of a test run: the mean; for a counter the increase in a second. */
  readonly value: number;
  /** Minimum and maximum, unless they are equal. */
  readonly range?: readonly [number, number];
  /** The total increase of a counter. */
  readonly increase?: number;
}

/** Timeout: the DAC reads all samples of both test runs. */
const COMPARISON_MS = 600_000;

export async function compareTestRuns(one: TestRun, other: TestRun): Promise<Comparison> {
  const answer = await fetchJson('GET', `test-runs/${one.id}/comparison?with=${other.id}`, {
    patience: COMPARISON_MS,
  });
  const { instances, more } = isFields(answer) ? answer : {};
  return { runs: [one, other], instances: listOf(instances).map(comparedOf), hasMore: more === true };
}

/** The same with the other test run first. */
export function swapped({ runs: [one, two], instances, ...rest }: Comparison): Comparison {
  const rows = (of: ComparedInstance) =>
    of.rows.map(({ of: kind, name, unit, sides: [first, second] }) =>
      rowOf(kind, name, unit, [second, first]),
    );
  return {
    ...rest,
    runs: [two, one],
    instances: instances.map((instance) => ({ ...instance, rows: rows(instance) })),
  };
}

const MINUTE_MS = 60_000;

/** Counts per minute of their test run, so that test runs of different lengths can be compared; `now` ends those that go on. */
export function perMinute({ runs, instances, ...rest }: Comparison, now: number): Comparison {
  const minutes = runs.map(({ started, stopped = now }) => (stopped - started) / MINUTE_MS);
  const rows = ({ rows }: ComparedInstance) =>
    rows.map((row) => {
      if (row.of !== 'samples' && row.of !== 'lost') return row;
      const sides = row.sides.map((side, index) => side && plain(side.value / minutes[index]));
      return rowOf(row.of, row.name, '/min', sides);
    });
  return {
    ...rest,
    runs,
    instances: instances.map((instance) => ({ ...instance, rows: rows(instance) })),
  };
}

function comparedOf({ node, instance, summary, with: other }: Fields): ComparedInstance {
  const sides = [summary, other].map((side) => (isFields(side) ? side : {}));
  const rows: ComparedRow[] = [
    rowOf(
      'samples',
      '',
      '',
      sides.map(({ samples }) => plain(samples)),
    ),
    rowOf(
      'rate',
      '',
      '/s',
      sides.map(({ rate }) => plain(rate)),
    ),
  ];
  const lost = sides.map((side) => (isFields(side.lost) ? side.lost : {}));
  for (const cause of new Set(lost.flatMap(Object.keys)))
    rows.push(
      rowOf(
        'lost',
        cause,
        '',
        lost.map((of) => plain(of[cause])),
      ),
    );
  const constants: ComparedInstance['constants'][number][] = [];
  const metrics = sides.map((side) => new Map(listOf(side.metrics).map((of) => [String(of.name), of])));
  for (const name of new Set(metrics.flatMap((side) => [...side.keys()]))) {
    const both = metrics.map((side) => side.get(name));
    const unit = both.map((of) => of?.unit).find((unit) => typeof unit === 'string') ?? '';
    const value = constantOf(both);
    if (value !== undefined) constants.push({ name, unit, value });
    else {
      const isCounter = both.some((of) => typeof of?.increase === 'number');
      rows.push(rowOf('metric', name, isCounter ? `${unit}/s` : unit, both.map(figuresOf)));
    }
  }
  return { node: String(node), instance: String(instance), rows, constants };
}

function rowOf(
  of: ComparedRow['of'],
  name: string,
  unit: string,
  [one, two]: readonly (Figures | undefined)[],
): ComparedRow {
  const change =
    one && two && one.value !== 0 ? ((two.value - one.value) / Math.abs(one.value)) * 100 : undefined;
  return { of, name, unit, sides: [one, two], change };
}

/** The constant value of a metric in all its instances. */
function constantOf(both: readonly (Fields | undefined)[]): number | undefined {
  const values = both.flatMap((of) => (of ? [of.min, of.max] : []));
  const [value] = values;
  return typeof value === 'number' && values.every((other) => other === value) ? value : undefined;
}

function figuresOf(metric: Fields | undefined): Figures | undefined {
  if (!metric) return undefined;
  const { min, mean, max, increase, increase_rate: rate } = metric;
  if (typeof increase === 'number') return typeof rate === 'number' ? { value: rate, increase } : undefined;
  if (typeof min !== 'number' || typeof mean !== 'number' || typeof max !== 'number') return undefined;
  return min === max ? { value: mean } : { value: mean, range: [min, max] };
}

function plain(value: unknown): Figures | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? { value } : undefined;
}
