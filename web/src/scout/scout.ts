/// <reference lib="webworker" />
import { isAlive } from './alive.ts';
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
