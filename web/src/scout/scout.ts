/// <reference lib="webworker" />
import { firstAlive } from './first_alive.ts';
import type { ScoutAnswer, ScoutQuestion } from './messages.ts';

/**
 * A worker that asks other DACs whether they work. Its script comes with a policy of its own: it may connect to the origins that
 * the DAC has named, which the page may not (docs/decisions/0008-pages-go-on.md).
 */
const scout = self as unknown as DedicatedWorkerGlobalScope;

scout.onmessage = async (event: MessageEvent<ScoutQuestion>) => {
  const { id, addresses } = event.data;
  scout.postMessage({ id, found: await firstAlive(addresses, isAlive) } satisfies ScoutAnswer);
};

// The page keeps its former scout until this one is there.
scout.postMessage('ready');

/** A server that is silent for this time is taken for gone, milliseconds. */
const PATIENCE_MS = 1000;
/** What a DAC that works says (docs/reference/health.md); anything else may be another server at its address. */
const ALIVE = 'oasis';

/** Returns whether a DAC works at this address. It sends no credentials, and says nothing of the page. */
export async function isAlive(address: string): Promise<boolean> {
  try {
    const answer = await fetch(new URL('alive', address), {
      mode: 'cors',
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return answer.ok && (await answer.text()) === ALIVE;
  } catch {
    return false;
  }
}
