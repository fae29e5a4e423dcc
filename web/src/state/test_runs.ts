import { effect, signal } from '@preact/signals';
import { fetchJson, Refusal } from '../api/api.ts';
import type { Fields } from '../wire/fields.ts';
import { now } from './now.ts';
import { reread } from './reread.ts';
import { isConnected } from './store.ts';
import { goLive, setSpan, show } from './time.ts';

/** A named span of time (http-api.md, "test runs"). Milliseconds by the DAC's clock. */
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

export const TEST_RUNS_PAGE = 100;
/** The same pause follows a failure of the DAC. */
const REREAD_MS = 2000;

export interface TestRunPage {
  /** From 1 on. */
  readonly number: number;
  /** Newest first. */
  readonly runs: readonly TestRun[];
  readonly hasOlder: boolean;
}

/** The listed test runs; undefined before the first answer. */
export const testRuns = signal<TestRunPage | undefined>(undefined);
/** For each page after the newest one: the number of the last test run before it. */
const turned = signal<readonly number[]>([]);
/** The error of the last attempt to read them; empty after a success. */
export const testRunsProblem = signal('');

/** Keeps the list up to date, after failures as well. Returns a function that ends it. */
export function followTestRuns(): () => void {
  return effect(() => {
    // The banner reports the lost connection. They are read again as soon as there is one.
    if (!isConnected.value) return;
    // Another page is read at once, too.
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
        // A DAC has an archive from its start, or never.
        isThere = !(error instanceof Refusal && error.code === 'no_archive');
        if (!isThere) testRuns.value = undefined;
      }
    }, REREAD_MS);
  });
}

/** Reads the test runs of the page that is shown. */
export async function listTestRuns(signal?: AbortSignal): Promise<void> {
  const behind = turned.peek();
  const before = behind.length > 0 ? `&before=${behind.at(-1)}` : '';
  // One more shows whether there are older ones.
  const answer = await fetchJson('GET', `test-runs?limit=${TEST_RUNS_PAGE + 1}${before}`, { signal });
  // The user has turned to another page meanwhile.
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
  // The last page that was requested may not be loaded yet.
  if (last && page?.hasOlder && page.number === turned.peek().length + 1)
    turned.value = [...turned.peek(), last.id];
}

export function turnToNewer(): void {
  turned.value = turned.peek().slice(0, -1);
}

export async function startTestRun(name: string, tags: readonly string[], notes: string): Promise<void> {
  await fetchJson('POST', 'test-runs', { body: { name, tags, notes } });
  // A new test run is on the first page.
  turned.value = [];
  await listTestRuns();
}

export async function stopTestRun({ id }: TestRun): Promise<void> {
  await fetchJson('POST', `test-runs/${id}/stop`);
  await listTestRuns();
}

export async function changeTestRun(
  { id }: TestRun,
  change: Partial<Pick<TestRun, 'notes' | 'tags' | 'pinned'>>,
): Promise<void> {
  await fetchJson('PATCH', `test-runs/${id}`, { body: change });
  await listTestRuns();
}

export async function deleteTestRun({ id }: TestRun): Promise<void> {
  await fetchJson('DELETE', `test-runs/${id}`);
  await listTestRuns();
}

/** Shows the time of a test run on all panels; a running one stays live. */
export function showTestRun({ started, stopped }: Pick<TestRun, 'started' | 'stopped'>): void {
  if (stopped !== undefined) {
    show(started, Math.max(stopped, started + 1000));
    return;
  }
  goLive();
  setSpan(now.peek() - started);
}

export function testRunOf(fields: Fields): TestRun {
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
