import { effect, signal } from '@preact/signals';
import { fetchJson } from '../api/api.ts';
import type { Fields } from '../wire/fields.ts';
import { isConnected } from './store.ts';
import { showTestRun, testRunOf } from './test_runs.ts';
import { unknownRun } from './unknown.ts';

/** Names of test runs, to find the one that somebody may have meant. */
export const namesOfRuns = signal<readonly string[]>([]);

/** Shows the time of a test run, as soon as the DAC answers; says so if there is none of this name. */
export function showRunOfAddress(name: string): void {
  const stop = effect(() => {
    if (!isConnected.value) return;
    queueMicrotask(() => {
      stop();
      // Without an archive there is no test run either.
      void find(name).catch(() => {
        unknownRun.value = name;
      });
    });
  });
}

async function find(name: string): Promise<void> {
  const [found] = await read(`name=${encodeURIComponent(name)}&limit=1`);
  if (found) {
    showTestRun(testRunOf(found));
    return;
  }
  namesOfRuns.value = (await read('limit=1000')).map((run) => String(run.name));
  unknownRun.value = name;
}

async function read(query: string): Promise<Fields[]> {
  return ((await fetchJson('GET', `test-runs?${query}`)) as { test_runs: Fields[] }).test_runs;
}
