/**
 * Expected samples per second. Null if silence means nothing; `unknown` for a periodic probe whose rate is not known,
 * because it is imported, archived or replayed.
 */
export type Pace = number | 'unknown' | null;

/** Factor of the median interval from which a sample is late. */
const LATE_FACTOR = 2.5;
const SLACK_MS = 500;
/** Minimum number of intervals to estimate a rate. */
const MIN_INTERVALS = 4;
const KEPT = 8;

/**
 * Whether the probe was silent between two samples that are `apart` milliseconds apart. `around` returns intervals to
 * compare with if the rate is unknown.
 */
export function isSilence(apart: number, pace: Pace, around: () => readonly number[]): boolean {
  // Most intervals are too short for a silence and need no comparison.
  if (pace === null || apart <= SLACK_MS) return false;
  const period = pace === 'unknown' ? median(around()) : 1000 / pace;
  return apart > LATE_FACTOR * period + SLACK_MS;
}

/** Returns the median, because a rate may have changed. */
function median(intervals: readonly number[]): number {
  if (intervals.length < MIN_INTERVALS) return Number.POSITIVE_INFINITY;
  return intervals.toSorted((one, other) => one - other)[Math.floor(intervals.length / 2)];
}

/** Intervals between the newest samples of an instance, in milliseconds. */
export class Intervals {
  private kept: number[] = [];

  /** Adds the times of samples; `before` is the time of the previous sample. */
  add(before: number | undefined, times: Float64Array): void {
    const first = Math.max(before === undefined ? 1 : 0, times.length - KEPT);
    for (let index = first; index < times.length; index++)
      this.kept.push(times[index] - (index > 0 ? times[index - 1] : (before ?? 0)));
    if (this.kept.length > KEPT) this.kept = this.kept.slice(-KEPT);
  }

  /** Whether the probe was silent between these and the next sample. */
  isSilence(apart: number, pace: Pace): boolean {
    const newest = this.kept.at(-1);
    // Earlier samples may have been taken at another rate.
    return newest !== undefined && apart > LATE_FACTOR * newest && isSilence(apart, pace, () => this.kept);
  }

  /** Forgets all intervals: the rate may change. */
  clear(): void {
    this.kept = [];
  }
}
