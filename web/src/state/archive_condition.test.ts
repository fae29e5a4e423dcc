import { afterEach, expect, it, vi } from 'vitest';
import { archiveTrouble, archiveWarnings, followArchiveCondition } from './archive_condition.ts';
import { connection, hasArchive } from './store.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('says why the archive stores nothing for as long as it does not', async () => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { hidden: false, baseURI: 'http://dac/' });
  let answer: object = { condition: 'disk_full', detail: 'No space left on device' };
  vi.stubGlobal('fetch', async () => Response.json(answer));
  followArchiveCondition();
  connection.value = { ...connection.value, phase: 'connected' };
  hasArchive.value = true;
  await vi.advanceTimersByTimeAsync(100);
  expect(archiveTrouble.value).toEqual({ condition: 'disk_full', detail: 'No space left on device' });
  const warning = { code: 'heavy_node', detail: 'node "camera" has 90 %: lower its rates' };
  answer = {
    condition: 'storing',
    detail: null,
    warnings: [{ ...warning, instances: '*' }, { code: 7 }, null],
  };
  await vi.advanceTimersByTimeAsync(5000);
  expect(archiveTrouble.value).toBeUndefined();
  expect(archiveWarnings.value).toEqual([warning]);
  answer = { condition: 'storing', detail: null };
  await vi.advanceTimersByTimeAsync(5000);
  expect(archiveWarnings.value).toEqual([]);
});
