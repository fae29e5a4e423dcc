import { formatInteger } from '../format/number.ts';
import { formatAge, formatInstant } from '../format/time.ts';
import type { GapMark } from '../series/causes.ts';
import { strings } from '../strings/strings.ts';

/** The cause of a gap in words: one that lasts says since when. */
export function causeOf({ cause, count, from, isLasting }: GapMark): string {
  return isLasting
    ? strings.interruption.lasting(cause, formatInstant(from))
    : strings.gaps.describe(cause, count);
}

/** How long a gap is, what is missing, and why. */
export function wordsOf(gap: GapMark): string {
  const { count, from, to } = gap;
  const missing = count > 0 ? strings.gaps.missing(formatInteger(count), count === 1) : '';
  return strings.gaps.note(formatAge(to - from), missing, causeOf(gap));
}
