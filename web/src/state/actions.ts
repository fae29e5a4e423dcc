import { effect } from '@preact/signals';
import { StreamClient } from '../stream/client.ts';
import type { Wish } from '../stream/protocol.ts';
import { keyOf, type Target } from '../stream/view.ts';
import { decodeChoice, defaultChoice, isComplete, loadChoice, saveChoice } from './choice.ts';
import { startTicking } from './now.ts';
import { apply, cellsOf, choice, forget, registry } from './store.ts';

const PATIENCE_MS = 600;

let client: StreamClient | undefined;

export function start(): void {
  client = new StreamClient(apply);
  client.start(new URL('.', location.href));
  startTicking();
  const remembered = loadChoice();
  if (remembered) choose(remembered);
  else chooseOnFirstSight();
  window.addEventListener('hashchange', () => {
    const typed = decodeChoice(location.hash);
    if (typed) choose(typed);
  });
}

export function watch(target: Target): void {
  const before = choice.value ?? [];
  if (!before.some((other) => keyOf(other) === keyOf(target))) choose([...before, target]);
}

export function unwatch(target: Target): void {
  choose((choice.value ?? []).filter((other) => keyOf(other) !== keyOf(target)));
}

export function command(target: Target, wish: Wish): void {
  client?.command(target, wish);
}

function choose(next: readonly Target[]): void {
  const before = choice.value ?? [];
  const nextKeys = new Set(next.map(keyOf));
  const beforeKeys = new Set(before.map(keyOf));
  for (const target of before) {
    if (nextKeys.has(keyOf(target))) continue;
    client?.unwatch(target);
    forget(target);
  }
  for (const target of next) {
    if (beforeKeys.has(keyOf(target))) continue;
    cellsOf(target);
    client?.watch(target);
  }
  choice.value = next;
  saveChoice(next);
}

/**
 * Waits for something to choose, and a moment longer if it is not all that was hoped for: a node that has just started
 * registers one instance after another.
 */
function chooseOnFirstSight(): void {
  const settle = () => {
    const found = defaultChoice(registry.peek()?.instances ?? []);
    if (!choice.peek() && found.length > 0) choose(found);
  };
  let isWaiting = false;
  const stop = effect(() => {
    const found = defaultChoice(registry.value?.instances ?? []);
    if (isComplete(found)) queueMicrotask(settle);
    if (isWaiting || found.length === 0) return;
    isWaiting = true;
    setTimeout(() => {
      stop();
      settle();
    }, PATIENCE_MS);
  });
}
