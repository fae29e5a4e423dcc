import { afterEach, expect, it, vi } from 'vitest';
import { fetchJson } from './api.ts';

afterEach(() => vi.unstubAllGlobals());

/** A DAC that takes a request and never says anything, or breaks off within its answer. */
function silent(begins: boolean): void {
  vi.stubGlobal('document', { baseURI: 'http://dac/' });
  vi.stubGlobal('fetch', (_url: URL, { signal }: { signal: AbortSignal }) => {
    const never = new Promise<never>((_, fail) =>
      signal.addEventListener('abort', () => fail(signal.reason)),
    );
    return begins ? Promise.resolve({ ok: true, text: () => never }) : never;
  });
}

it('waits for no answer longer than its patience, and says so', async () => {
  for (const begins of [false, true]) {
    silent(begins);
    await expect(fetchJson('GET', 'layouts', { patience: 5 })).rejects.toThrow(
      'The request to the DAC timed out.',
    );
  }
});

it('cancels a request that is no longer needed', async () => {
  silent(false);
  const end = new AbortController();
  const asked = fetchJson('GET', 'layouts', { signal: end.signal });
  end.abort();
  await expect(asked).rejects.toThrow();
});
