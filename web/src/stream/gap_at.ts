import type { GapMark } from '../series/causes.ts';

/** Added to a time, so that a sample at exactly that time is found; milliseconds. */
export const INCLUSIVE_MS = 0.001;

/** Whether nothing is known of a time: it lies between the samples before and after a gap. */
export function isWithin({ from, to, isLasting }: GapMark, time: number): boolean {
  return time > from + INCLUSIVE_MS && (isLasting === true || time < to);
}

/** Returns the gap in which a time lies. */
export function gapAt(gaps: readonly GapMark[], time: number): GapMark | undefined {
  return gaps.find((gap) => isWithin(gap, time));
}
