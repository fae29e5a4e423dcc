import { afterEach, expect, it, vi } from 'vitest';
import {
  allAnnotations,
  annotate,
  annotations,
  annotationsOn,
  followAnnotations,
  keptUntil,
  MAX_ANNOTATIONS,
} from './annotations.ts';
import { connection, hasArchive } from './store.ts';
import { show } from './time.ts';

afterEach(() => {
  hasArchive.value = false;
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('reads one time after another, however often another one is shown meanwhile', async () => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { hidden: false, baseURI: 'http://dac/' });
  const asked: { path: string; signal: AbortSignal; answer: (response: Response) => void }[] = [];
  vi.stubGlobal(
    'fetch',
    (url: URL, { signal }: { signal: AbortSignal }) =>
      new Promise<Response>((answer) => asked.push({ path: url.search, signal, answer })),
  );
  connection.value = { ...connection.value, phase: 'connected' };
  hasArchive.value = true;
  followAnnotations();
  // Each is under way when the next one is wanted.
  for (let second = 1; second <= 3; second++) {
    show(0, second * 1000);
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(asked.map(({ path, signal }) => [path, signal.aborted])).toEqual([
    ['?from=0&to=1000000000&limit=1000', true],
    ['?from=0&to=2000000000&limit=1000', true],
    ['?from=0&to=3000000000&limit=1000', false],
  ]);
  // That does not concern it.
  connection.value = { ...connection.value, since: 1 };
  for (const { answer } of asked) answer(Response.json({ annotations: [] }));
  await vi.advanceTimersByTimeAsync(5000);
  expect(asked).toHaveLength(4);
});

it('says up to when it has the notes of a time that has more than one answer', async () => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { hidden: false, baseURI: 'http://dac/' });
  const first = Array.from({ length: 1000 }, (_, id) => ({ id, time: id * 1e6, until: null, text: 'bump' }));
  let answer: object = { annotations: first, next: '999000000-999' };
  vi.stubGlobal('fetch', async () => Response.json(answer));
  connection.value = { ...connection.value, phase: 'connected' };
  hasArchive.value = true;
  followAnnotations();
  show(0, 60_000);
  await vi.advanceTimersByTimeAsync(400);
  expect([allAnnotations.value.length, keptUntil.value]).toEqual([1000, 999]);
  answer = { annotations: first.slice(0, 3), next: null };
  await vi.advanceTimersByTimeAsync(5000);
  expect([allAnnotations.value.length, keptUntil.value]).toEqual([3, undefined]);
});

it('refuses a note beyond the limit of a layout, and keeps all others', async () => {
  annotations.value = [];
  for (let time = 0; time < MAX_ANNOTATIONS; time++) await annotate(time, 'bump');
  await expect(annotate(7, 'one more')).rejects.toThrow(/100 notes/);
  expect(annotations.value.map(({ time }) => time)).toEqual(Array.from({ length: 100 }, (_, time) => time));
});

it('shows a note on what it is about only', () => {
  const note = { time: 1, text: 'bump' };
  const [onPump, onTank, onAll] = [
    { ...note, targets: [{ node: 'pump-1' }] },
    { ...note, targets: [{ node: 'arm-2', instance: 'tank' }] },
    note,
  ];
  const on = (node: string, instance: string) => annotationsOn([onPump, onTank, onAll], [{ node, instance }]);
  expect(on('pump-1', 'motor')).toEqual([onPump, onAll]);
  expect(on('arm-2', 'motor')).toEqual([onAll]);
  expect(on('arm-2', 'tank')).toEqual([onTank, onAll]);
});
