import { effect, signal } from '@preact/signals';
import type { Fields } from '../fields.ts';
import { ask, Refusal } from './api.ts';
import { reread } from './reread.ts';
import { isConnected } from './store.ts';

/** A time with a name (http-api.md, "test runs"). Milliseconds by the DAC's clock. */
export interface TestRun {
  readonly id: number;
  readonly name: string;
  readonly started: number;
  readonly stopped: number | undefined;
  readonly notes: string;
  readonly tags: readonly string[];
  readonly pinned: boolean;
  readonly who: string;
}

/** One metric in two test runs; nothing where a run has none of it. */
export interface ComparedMetric {
  readonly node: string;
  readonly instance: string;
  readonly metric: string;
  readonly unit: string | undefined;
  readonly values: readonly (MetricFigures | undefined)[];
}

export interface MetricFigures {
  readonly count: number;
  readonly min: number;
  readonly mean: number;
  readonly max: number;
  /** How far a counter has counted in all, and in a second; undefined for other metrics. */
  readonly counted: { readonly increase: number; readonly rate: number } | undefined;
}

export interface Comparison {
  readonly runs: readonly [TestRun, TestRun];
  readonly metrics: readonly ComparedMetric[];
  /** Whether there are instances that it leaves out. */
  readonly hasMore: boolean;
}

export const TEST_RUNS_PAGE = 100;
/** The page is back so soon after a DAC that was away, too. */
const REREAD_MS = 2000;
/** All samples of both times are read for it. */
const COMPARISON_MS = 600_000;

export interface TestRunPage {
  /** From 1 on. */
  readonly number: number;
  /** Newest first. */
  readonly runs: readonly TestRun[];
  readonly hasOlder: boolean;
}

/** Those that are shown; nothing before they were asked for. */
export const testRuns = signal<TestRunPage | undefined>(undefined);
/** For each page that was turned to behind the newest one: the number of the last test run before it. */
const turned = signal<readonly number[]>([]);
/** Why they could not be read the last time; empty if they could. */
export const testRunsProblem = signal('');

/** Keeps them up to date, whatever came of reading them before; returns what ends that. */
export function followTestRuns(): () => void {
  return effect(() => {
    // That there is no connection is said elsewhere; as soon as there is one they are read.
    if (!isConnected.value) return;
    // As is another page.
    void turned.value;
    let isThere = true;
    return reread(async (signal) => {
      if (!isThere) return;
      try {
        await listTestRuns(signal);
        testRunsProblem.value = '';
      } catch (error) {
        if (signal.aborted) return;
        testRunsProblem.value = error instanceof Error ? error.message : String(error);
        // A DAC gets an archive at its start only.
        isThere = !(error instanceof Refusal && error.code === 'no_archive');
        if (!isThere) testRuns.value = undefined;
      }
    }, REREAD_MS);
  });
}

async function listTestRuns(signal?: AbortSignal): Promise<void> {
  const behind = turned.peek();
  const before = behind.length > 0 ? `&before=${behind.at(-1)}` : '';
  // One more tells whether there are older ones.
  const answer = await ask('GET', `test-runs?limit=${TEST_RUNS_PAGE + 1}${before}`, { signal });
  // Somebody has turned on meanwhile.
  if (turned.peek() !== behind) return;
  const runs = (answer as { test_runs: Fields[] }).test_runs.map(testRunOf);
  testRuns.value = {
    number: behind.length + 1,
    runs: runs.slice(0, TEST_RUNS_PAGE),
    hasOlder: runs.length > TEST_RUNS_PAGE,
  };
}

export function turnToOlder(): void {
  const page = testRuns.peek();
  const last = page?.runs.at(-1);
  // The page that was turned to last may not be there yet.
  if (last && page?.hasOlder && page.number === turned.peek().length + 1)
    turned.value = [...turned.peek(), last.id];
}

export function turnToNewer(): void {
  turned.value = turned.peek().slice(0, -1);
}

export async function startTestRun(name: string, tags: readonly string[], notes: string): Promise<void> {
  await ask('POST', 'test-runs', { body: { name, tags, notes } });
  // It is on the first page.
  turned.value = [];
  await listTestRuns();
}

export async function stopTestRun({ id }: TestRun): Promise<void> {
  await ask('POST', `test-runs/${id}/stop`);
  await listTestRuns();
}

export async function changeTestRun(
  { id }: TestRun,
  change: Partial<Pick<TestRun, 'notes' | 'tags' | 'pinned'>>,
): Promise<void> {
  await ask('PATCH', `test-runs/${id}`, { body: change });
  await listTestRuns();
}

export async function deleteTestRun({ id }: TestRun): Promise<void> {
  await ask('DELETE', `test-runs/${id}`);
  await listTestRuns();
}

export async function compareTestRuns(one: TestRun, other: TestRun): Promise<Comparison> {
  const answer = await ask('GET', `test-runs/${one.id}/comparison?with=${other.id}`, {
    patience: COMPARISON_MS,
  });
  const { instances, more } = answer as { instances: Fields[]; more: unknown };
  return { runs: [one, other], metrics: instances.flatMap(metricsOf), hasMore: more === true };
}

function testRunOf(fields: Fields): TestRun {
  const { id, name, started, stopped, notes, tags, pinned, who } = fields;
  return {
    id: Number(id),
    name: String(name),
    started: Number(started) / 1e6,
    stopped: typeof stopped === 'number' ? stopped / 1e6 : undefined,
    notes: String(notes ?? ''),
    tags: Array.isArray(tags) ? tags.map(String) : [],
    pinned: pinned === true,
    who: String(who),
  };
}

function metricsOf({ node, instance, summary, with: other }: Fields): ComparedMetric[] {
  const sides = [summary, other].map((side) => {
    const metrics = (side as { metrics?: Fields[] } | null)?.metrics ?? [];
    return new Map(metrics.map((metric) => [String(metric.name), metric]));
  });
  const names = new Set(sides.flatMap((side) => [...side.keys()]));
  return [...names].map((metric) => ({
    node: String(node),
    instance: String(instance),
    metric,
    unit: sides.map((side) => side.get(metric)?.unit).find((unit) => typeof unit === 'string') as
      | string
      | undefined,
    values: sides.map((side) => figuresOf(side.get(metric))),
  }));
}

function figuresOf(metric: Fields | undefined): MetricFigures | undefined {
  if (!metric) return undefined;
  const { count, min, mean, max, increase, increase_rate: rate } = metric;
  const counted = typeof increase === 'number' ? { increase, rate: number(rate) } : undefined;
  return { count: Number(count), min: number(min), mean: number(mean), max: number(max), counted };
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN;
}
