/** How many samples a second are to be expected: null where silence means nothing, `unknown` of a probe with a rate that nobody knows, because it is in the archive alone or played back. */
export type Pace = number | 'unknown' | null;

/** Of what samples are apart at their rate. */
const LATE = 2.5;
const SLACK_MS = 500;
/** Fewer intervals say nothing about a rate. */
const FEWEST = 4;
const KEPT = 8;

/** Whether nothing was sampled between two samples so many milliseconds apart. `around` are the intervals that this one is held against where nobody knows the rate. */
export function isSilence(apart: number, pace: Pace, around: () => readonly number[]): boolean {
  // Mostly it is shorter than any silence, and need not be held against others.
  if (pace === null || apart <= SLACK_MS) return false;
  const period = pace === 'unknown' ? usual(around()) : 1000 / pace;
  return apart > LATE * period + SLACK_MS;
}

/** The middle one: a rate may have changed. */
function usual(intervals: readonly number[]): number {
  if (intervals.length < FEWEST) return Number.POSITIVE_INFINITY;
  return intervals.toSorted((one, other) => one - other)[Math.floor(intervals.length / 2)];
}

/** Milliseconds between the newest samples of an instance. */
export class Intervals {
  private kept: number[] = [];

  /** Takes the times of samples, and of the one before them. */
  add(before: number | undefined, times: Float64Array): void {
    const first = Math.max(before === undefined ? 1 : 0, times.length - KEPT);
    for (let index = first; index < times.length; index++)
      this.kept.push(times[index] - (index > 0 ? times[index - 1] : (before ?? 0)));
    if (this.kept.length > KEPT) this.kept = this.kept.slice(-KEPT);
  }

  /** Whether something is silent between these and the next sample. */
  isSilence(apart: number, pace: Pace): boolean {
    const newest = this.kept.at(-1);
    // Samples from before may have been taken at another pace than today's.
    return newest !== undefined && apart > LATE * newest && isSilence(apart, pace, () => this.kept);
  }

  /** What comes next may come at another pace. */
  clear(): void {
    this.kept = [];
  }
}
