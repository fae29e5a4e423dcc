import { fetchJson, Refusal } from './api.ts';

/** Status of a request that is refused because others of its kind run, and how often it is tried. */
const BUSY = 429;
const ATTEMPTS = 6;
const PAUSE_MS = 400;

/**
 * Asks for something that the DAC does a few times at once: SQL and searches. A request that is refused for that waits:
 * panels of a layout begin together, and a canceled one may still run. Waits 6 s in all before it throws.
 */
export async function askWhenFree(
  path: string,
  options: { readonly body: object; readonly patience: number; readonly signal?: AbortSignal },
): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await fetchJson('POST', path, options);
    } catch (error) {
      const isBusy = error instanceof Refusal && error.status === BUSY;
      if (!isBusy || attempt >= ATTEMPTS || options.signal?.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, attempt * PAUSE_MS));
      options.signal?.throwIfAborted();
    }
  }
}
