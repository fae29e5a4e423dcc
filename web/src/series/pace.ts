/**
 * Expected samples per second. `unknown` for a periodic probe whose rate is not known, because it is imported, archived or
 * replayed; `steady` for a pushed probe, whose silence counts only after samples came regularly; null if silence means
 * nothing.
 */
export type Pace = number | 'unknown' | 'steady' | null;

/** Samples before a silence. */
export interface Recent {
  /** Intervals to compare with if the rate is not known, in milliseconds. */
  readonly intervals: readonly number[];
  /** For how long no two samples were further apart than {@link SLACK_MS}. */
  readonly busyFor: number;
}

/** Factor of the median interval from which a sample is late. */
export const LATE_FACTOR = 2.5;
export const SLACK_MS = 500;
/** Minimum number of intervals to estimate a rate. */
const MIN_INTERVALS = 4;
const MAX_INTERVALS = 8;
/** Samples of a pushed probe are regular if they came for this long, and six of eight intervals are near the median. */
const STEADY_MS = 2000;
const STEADY_SHARE = 0.75;

/**
 * Whether the probe was silent between two samples that are `apart` milliseconds apart. This is the only rule for a line
 * that ends, a hatched time and an interruption in words: live, in memory and in the archive. `recent` is called only if
 * the rate is not known.
 */
export function isSilence(apart: number, pace: Pace, recent: () => Recent): boolean {
  // Most intervals are too short for a silence and need no comparison.
  if (pace === null || apart <= SLACK_MS) return false;
  if (typeof pace === 'number') return isLate(apart, 1000 / pace);
  const { intervals, busyFor } = recent();
  const usual = median(intervals);
  return isLate(apart, usual) && (pace === 'unknown' || isSteady(intervals, usual, busyFor));
}

function isLate(apart: number, period: number): boolean {
  return apart > LATE_FACTOR * period + SLACK_MS;
}

/** A burst of events is no stream that could fall silent. */
function isSteady(intervals: readonly number[], usual: number, busyFor: number): boolean {
  const near = intervals.filter((interval) => interval >= usual / 2 && interval <= 2 * usual).length;
  const length = Math.max(
    busyFor,
    intervals.reduce((sum, interval) => sum + interval, 0),
  );
  return intervals.length === MAX_INTERVALS && near >= STEADY_SHARE * MAX_INTERVALS && length >= STEADY_MS;
}

/** Returns the median, because a rate may have changed. */
function median(intervals: readonly number[]): number {
  if (intervals.length < MIN_INTERVALS) return Number.POSITIVE_INFINITY;
  return intervals.toSorted((one, other) => one - other)[Math.floor(intervals.length / 2)];
}

/** Returns what came before a row of times. */
export function recentBefore(times: ArrayLike<number>, row: number): Recent {
  const first = Math.max(1, row - MAX_INTERVALS);
  const intervals = Array.from({ length: Math.max(0, row - first) }, (_, index) => {
    return times[first + index] - times[first + index - 1];
  });
  let start = row - 1;
  while (start > 0 && times[start] - times[start - 1] <= SLACK_MS) start--;
  return { intervals, busyFor: row > 0 ? times[row - 1] - times[start] : 0 };
}

/** Intervals between the newest samples of an instance, in milliseconds. */
export class Intervals {
  private kept: number[] = [];
  /** Time of the first sample since the last long interval. */
  private busySince = Number.NaN;

  /** The newest interval. */
  get newest(): number | undefined {
    return this.kept.at(-1);
  }

  /**
   * Adds the times of samples; `before` is the time of the previous sample. Returns the indices of those that a silence
   * precedes.
   */
  add(before: number | undefined, times: Float64Array, pace: Pace): number[] {
    const silences: number[] = [];
    if (before === undefined) this.busySince = times[0];
    for (let index = before === undefined ? 1 : 0; index < times.length; index++) {
      const previous = index > 0 ? times[index - 1] : (before ?? 0);
      const apart = times[index] - previous;
      if (apart <= SLACK_MS) continue;
      const intervals = this.until(before, times, index);
      const newest = intervals.at(-1);
      const recent = () => ({ intervals, busyFor: previous - this.busySince });
      // Earlier samples may have been taken at another rate.
      if (newest !== undefined && apart > LATE_FACTOR * newest && isSilence(apart, pace, recent))
        silences.push(index);
      this.busySince = times[index];
    }
    this.kept = this.until(before, times, times.length);
    return silences;
  }

  /**
   * Whether the probe has been silent since its newest sample, which was taken at `since` and has this age in milliseconds:
   * the result that {@link add} will find when the next sample comes.
   */
  isSilent(since: number, age: number, pace: Pace): boolean {
    const { kept, newest } = this;
    // Earlier samples may have been taken at another rate.
    if (newest !== undefined && age <= LATE_FACTOR * newest) return false;
    return isSilence(age, pace, () => ({ intervals: kept, busyFor: since - this.busySince }));
  }

  /** Forgets all intervals: the rate may change. */
  clear(): void {
    this.kept = [];
    this.busySince = Number.NaN;
  }

  /** Returns the newest intervals before a sample. */
  private until(before: number | undefined, times: Float64Array, index: number): number[] {
    const fresh: number[] = [];
    for (let at = Math.max(before === undefined ? 1 : 0, index - MAX_INTERVALS); at < index; at++)
      fresh.push(times[at] - (at > 0 ? times[at - 1] : (before ?? 0)));
    return [...this.kept, ...fresh].slice(-MAX_INTERVALS);
  }
}
