import { signal } from '@preact/signals';

const TICK_MS = 100;

/** Milliseconds since 1970, by the same clock that the worker uses. */
export function clock(): number {
  return performance.timeOrigin + performance.now();
}

/** The present time for ages. It ticks without a connection too, but not while the page is hidden. */
export const now = signal(clock());

export function startTicking(): void {
  setInterval(() => {
    if (!document.hidden) now.value = clock();
  }, TICK_MS);
}
