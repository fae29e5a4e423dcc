import { computed, signal } from '@preact/signals';
import type { Range } from '../stream/query.ts';
import { areViewsReady } from './awaited_views.ts';
import { clock } from './now.ts';
import { ends, goLive, range, spanOf } from './time.ts';

/** Plays the past: the time shown moves on, and with it every panel. */

/** Times as fast as it was. */
export const SPEEDS: readonly number[] = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
/** A step of the keys, as a share of the time shown. */
const STEP = 0.01;
/** A panel that waits for the archive holds the others at most so long. */
const MOST_WAIT_MS = 2000;
/** Longest time between two steps that counts: a hidden page makes none. */
const MOST_ELAPSED_MS = 1000;
/** What is read ahead while it plays, in real time. */
export const AHEAD_MS = 5000;

export const speed = signal(1);
export const isPlaying = signal(false);

/** Time of the last step; by the clock of the browser. */
let steppedAt = 0;
let frame: number | undefined;

/** Plays or stops. What is live is played from the beginning of the time shown. */
export function togglePlayback(): void {
  if (isPlaying.peek()) stopPlayback();
  else startPlayback();
}

export function stopPlayback(): void {
  if (frame !== undefined) cancelAnimationFrame(frame);
  frame = undefined;
  isPlaying.value = false;
}

function startPlayback(): void {
  if (range.peek().live) {
    const [from, to] = ends();
    range.value = { live: false, from: from - (to - from), to: from };
  }
  isPlaying.value = true;
  steppedAt = clock();
  frame = requestAnimationFrame(onFrame);
}

function onFrame(): void {
  frame = undefined;
  if (range.peek().live) {
    stopPlayback();
    return;
  }
  const now = clock();
  // No panel is ahead of another one: the next step waits until all show this one.
  if (areViewsReady() || now - steppedAt > MOST_WAIT_MS) {
    const next = moved(range.peek(), Math.min(MOST_ELAPSED_MS, now - steppedAt) * speed.peek(), now);
    steppedAt = now;
    if (next) range.value = next;
    else {
      stopPlayback();
      goLive();
      return;
    }
  }
  frame = requestAnimationFrame(onFrame);
}

/** Returns a range so many milliseconds later; undefined if it would end in the future. */
export function moved(shown: Range, by: number, now: number): Range | undefined {
  if (shown.live) return undefined;
  const to = shown.to + by;
  return to >= now ? undefined : { live: false, from: shown.from + by, to };
}

/** Plays faster or slower. */
export function changeSpeed(direction: 1 | -1): void {
  const next =
    direction > 0
      ? SPEEDS.find((other) => other > speed.peek())
      : SPEEDS.findLast((other) => other < speed.peek());
  if (next !== undefined) speed.value = next;
}

/** Moves by a hundredth of the time shown, and stops there. */
export function step(direction: 1 | -1): void {
  stopPlayback();
  const [from, to] = ends();
  const by = (to - from) * STEP * direction;
  const next = moved({ live: false, from, to }, by, clock());
  if (next) range.value = next;
  else goLive();
}

let ahead: Range | undefined;

/**
 * The time to read for what is drawn over charts. It is the time shown, but while that moves on, more of it at once: a read takes
 * longer than a step.
 */
export const rangeToRead = computed<Range>(() => {
  const shown = range.value;
  if (shown.live || !isPlaying.value) {
    ahead = undefined;
    return shown;
  }
  ahead = widened(shown, ahead, AHEAD_MS * speed.value);
  return ahead;
});

/** Returns the range before, if it covers the shown one, and otherwise one that does for a while. */
export function widened(shown: Range & { live: false }, before: Range | undefined, more: number): Range {
  const length = spanOf(shown);
  const isCovered =
    before !== undefined && !before.live && before.from <= shown.from && before.to >= shown.to;
  if (isCovered && spanOf(before) <= 2 * (2 * length + more)) return before;
  return { live: false, from: shown.from - length / 2, to: shown.to + length / 2 + more };
}
