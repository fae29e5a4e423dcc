import { computed, signal } from '@preact/signals';
import type { Range } from '../stream/query.ts';
import { clock } from './now.ts';

/** The time that all panels show. Milliseconds, browser clock. */

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export const SPANS = [5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000, 6 * HOUR, DAY, 7 * DAY] as const;
export const COMPARISONS = [60_000, 300_000, 900_000, 3_600_000, DAY, 7 * DAY] as const;
const MIN_SPAN = 20;
const MAX_SPAN = 31 * DAY;
/** Lengths that keys step through. */
const LENGTHS: readonly number[] = [
  ...[MIN_SPAN, 50, 100, 200, 500, 1000, 2000, 5000, 15_000, 30_000],
  ...[1, 2, 5, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 7, 14].map((days) => days * DAY),
  MAX_SPAN,
];

export const range = signal<Range>({ live: true, span: 60_000 });
/** Milliseconds from the shown range back to a second one of the same length, which is drawn over it; 0 for none. */
export const compareAgo = signal(0);
/** Overlays the shown range with the one around a moment. Returns false if that is not earlier. */
export function compareWith(moment: number): boolean {
  const [from, to] = ends();
  const ago = Math.round((from + to) / 2 - moment);
  if (ago <= 0) return false;
  compareAgo.value = ago;
  return true;
}

/** The time under the pointer on any chart. */
export const cursorTime = signal<number | undefined>(undefined);

export const span = computed(() => spanOf(range.value));

export function spanOf(shown: Range): number {
  return shown.live ? shown.span : shown.to - shown.from;
}

/** Start and end of the range shown now. */
export function ends(shown: Range = range.peek()): [number, number] {
  if (!shown.live) return [shown.from, shown.to];
  const now = clock();
  return [now - shown.span, now];
}

/** Draws all panels again. */
export function redraw(): void {
  range.value = { ...range.peek() };
}

export function goLive(): void {
  range.value = { live: true, span: spanOf(range.peek()) };
}

function pause(): void {
  const [from, to] = ends();
  range.value = { live: false, from, to };
}

export function togglePause(): void {
  if (range.peek().live) pause();
  else goLive();
}

export function setSpan(wanted: number): void {
  const span = Math.min(MAX_SPAN, Math.max(MIN_SPAN, wanted));
  const shown = range.peek();
  range.value = shown.live ? { live: true, span } : { live: false, from: shown.to - span, to: shown.to };
}

export function show(from: number, to: number): void {
  if (to - from < MIN_SPAN) return;
  range.value = { live: false, from, to };
}

/** Moves the range by a share of its length. A range that would end in the future becomes live. */
export function pan(share: number): void {
  const [from, to] = ends();
  const by = (to - from) * share;
  if (to + by >= clock()) goLive();
  else range.value = { live: false, from: from + by, to: to + by };
}

/** Zooms around a place, which is given as a share of the range. */
export function zoom(factor: number, around = 1): void {
  const shown = range.peek();
  if (shown.live && around === 1) {
    setSpan(shown.span * factor);
    return;
  }
  const [from, to] = ends();
  const length = Math.min(MAX_SPAN, Math.max(MIN_SPAN, (to - from) * factor));
  const pivot = from + (to - from) * around;
  show(pivot - length * around, pivot + length * (1 - around));
}

/** Shows the next longer or shorter round length. */
export function zoomStep(direction: 1 | -1): void {
  // A length that was drawn by hand may be a fraction away from a round one.
  const shown = Math.round(span.peek());
  const next =
    direction > 0 ? LENGTHS.find((length) => length > shown) : LENGTHS.findLast((length) => length < shown);
  if (next !== undefined) setSpan(next);
}

/** Shows a range of the same length around a moment. */
export function goTo(moment: number): void {
  const length = span.peek();
  const to = Math.min(moment + length / 2, clock());
  range.value = { live: false, from: to - length, to };
}
