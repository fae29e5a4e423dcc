import { afterEach, expect, it, vi } from 'vitest';
import { followHealth, healthProblems, problemsBesides } from './dac_health.ts';
import { connection } from './store.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('lists the parts of the DAC that do not work for as long as they do not', async () => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { hidden: false, baseURI: 'http://dac/' });
  const hanging = { part: 'postgresql', reason: 'thread postgresql hangs: connecting' };
  let answer: object = { status: 'degraded', reasons: [hanging, { part: 7 }, null] };
  vi.stubGlobal('fetch', async () => Response.json(answer));
  followHealth();
  connection.value = { ...connection.value, phase: 'connected' };
  await vi.advanceTimersByTimeAsync(100);
  expect(healthProblems.value).toEqual([hanging]);
  answer = { status: 'ok', reasons: [] };
  await vi.advanceTimersByTimeAsync(5000);
  expect(healthProblems.value).toEqual([]);
});

it('does not repeat the warning of the archive', () => {
  const problems = [
    { part: 'archive', reason: 'the disk is full' },
    { part: 'postgresql', reason: 'refused' },
  ];
  expect(problemsBesides(true, problems)).toEqual([problems[1]]);
  expect(problemsBesides(false, problems)).toEqual(problems);
});
