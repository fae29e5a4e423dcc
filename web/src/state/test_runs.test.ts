import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { connection } from './store.ts';
import {
  followTestRuns,
  startTestRun,
  testRuns,
  testRunsProblem,
  turnToNewer,
  turnToOlder,
} from './test_runs.ts';

/** What the DAC answers from now on; nothing while it is away. */
let answer: (() => Response) | undefined;
let asked: string[];
let stop: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { hidden: false, baseURI: 'http://dac/' });
  asked = [];
  vi.stubGlobal('fetch', async (url: URL) => {
    asked.push(url.pathname + url.search);
    if (!answer) throw new TypeError('Failed to fetch');
    return answer();
  });
  answer = () => Response.json({ test_runs: [{ id: 1, name: 'soak', started: 0, tags: [], who: '' }] });
  isConnected(true);
});

afterEach(() => {
  stop();
  testRuns.value = undefined;
  testRunsProblem.value = '';
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function isConnected(is: boolean): void {
  connection.value = { ...connection.value, phase: is ? 'connected' : 'reconnecting' };
}

const refuse = (status: number, code: string, detail: string) => () =>
  Response.json({ type: `/problems/${code}`, detail }, { status });

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const names = () => testRuns.value?.runs.map(({ name }) => name);

it('says what is wrong, and goes on reading', async () => {
  answer = refuse(507, 'disk_full', 'No room.');
  stop = followTestRuns();
  await pass(10);
  expect([testRunsProblem.value, names()]).toEqual(['No room.', undefined]);
  answer = undefined;
  await pass(2000);
  expect(testRunsProblem.value).toBe('The DAC cannot be reached.');
  answer = () => new Response('<html>', { status: 502 });
  await pass(2000);
  expect(testRunsProblem.value).toBe('HTTP 502');
  answer = () => Response.json({ test_runs: [{ id: 2, name: 'day 2', started: 0 }] });
  await pass(2000);
  expect([testRunsProblem.value, names()]).toEqual(['', ['day 2']]);
});

it('sends no requests while disconnected, and one at once after a reconnect', async () => {
  stop = followTestRuns();
  await pass(10);
  isConnected(false);
  await pass(60_000);
  expect(asked).toHaveLength(1);
  expect(names()).toEqual(['soak']);
  isConnected(true);
  await pass(10);
  expect(asked).toHaveLength(2);
});

it('asks a DAC without an archive once in its life', async () => {
  answer = refuse(404, 'no_archive', 'This DAC has no archive.');
  stop = followTestRuns();
  await pass(60_000);
  expect(asked).toHaveLength(1);
  expect(testRunsProblem.value).toBe('This DAC has no archive.');
  isConnected(false);
  isConnected(true);
  await pass(10);
  expect(asked).toHaveLength(2);
});

it('turns to older test runs and back, and to the first page with one that is new', async () => {
  /** As the DAC has them, newest first. */
  let newest = 250;
  vi.stubGlobal('fetch', async ({ searchParams }: URL, { method }: RequestInit) => {
    if (method === 'POST') newest++;
    const [before, limit] = [
      Number(searchParams.get('before') ?? newest + 1),
      Number(searchParams.get('limit')),
    ];
    const ids = Array.from({ length: Math.min(limit, before - 1) }, (_, index) => before - 1 - index);
    return Response.json({ test_runs: ids.map((id) => ({ id, name: `${id}`, started: 0 })) });
  });
  stop = followTestRuns();
  const shown = async () => {
    await pass(10);
    const { number, runs, hasOlder } = testRuns.value ?? { number: 0, runs: [], hasOlder: false };
    return [number, runs.length, runs.at(0)?.id, runs.at(-1)?.id, hasOlder];
  };
  expect(await shown()).toEqual([1, 100, 250, 151, true]);
  turnToOlder();
  // Whoever is impatient skips no page.
  turnToOlder();
  expect(await shown()).toEqual([2, 100, 150, 51, true]);
  turnToOlder();
  expect(await shown()).toEqual([3, 50, 50, 1, false]);
  turnToOlder();
  await pass(2000);
  expect(await shown()).toEqual([3, 50, 50, 1, false]);
  turnToNewer();
  expect(await shown()).toEqual([2, 100, 150, 51, true]);
  await startTestRun('one more', [], '');
  expect(await shown()).toEqual([1, 100, 251, 152, true]);
});
