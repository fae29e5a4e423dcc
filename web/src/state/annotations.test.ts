import { afterEach, expect, it, vi } from 'vitest';
import { followAnnotations } from './annotations.ts';
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
    ['?from=0&to=1000000000', true],
    ['?from=0&to=2000000000', true],
    ['?from=0&to=3000000000', false],
  ]);
  // That does not concern it.
  connection.value = { ...connection.value, since: 1 };
  for (const { answer } of asked) answer(Response.json({ annotations: [] }));
  await vi.advanceTimersByTimeAsync(5000);
  expect(asked).toHaveLength(4);
});
