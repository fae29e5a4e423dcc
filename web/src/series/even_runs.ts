/** The parts of a signal that can be transformed: samples at nearly equal distances, without a gap between them. */

/** Samples over time, unknown where they are not finite; breaks as in `expressions/signal`. */
export interface Sampled {
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly breaks: Uint8Array;
}

const SMALLEST = 64;
/** Samples further apart than this many times the usual interval have a gap between them. */
const GAP = 1.9;
/** Samples that are less than this share of an interval from their place are evenly spaced. */
const JITTER = 0.25;

export interface EvenRuns {
  /** All of them, also those that are shorter than the size. */
  readonly runs: readonly Run[];
  /** Samples of a segment: a power of two. */
  readonly size: number;
  /** Milliseconds between two samples. */
  readonly interval: number;
  /** Runs that end where the probe skipped a period or more, and no sample is missing: too short for a silence. */
  readonly skipped: number;
}

/** Finds the runs, and the largest size that fits into one of them; undefined below 64 samples. */
export function evenRuns(signal: Sampled, wanted: number): EvenRuns | undefined {
  const { times } = signal;
  const { runs, skipped } = runsIn(signal, usualInterval(times));
  const size = sizeFor(Math.max(0, ...runs.map(countIn)), wanted);
  const interval = meanInterval(times, runs);
  return size >= SMALLEST && interval > 0 ? { runs, size, interval, skipped } : undefined;
}

/** Samples without a gap between them, by index. */
export interface Run {
  readonly first: number;
  readonly last: number;
}

function runsIn(
  { times, values, breaks }: Sampled,
  interval: number,
): { readonly runs: readonly Run[]; readonly skipped: number } {
  const found: Run[] = [];
  let first: number | undefined;
  let skipped = 0;
  for (let index = 0; index <= times.length; index++) {
    const isInRun = first !== undefined && index > first;
    const isGap =
      index === times.length || !Number.isFinite(values[index]) || (isInRun && breaks[index] === 1);
    const isSkip = !isGap && isInRun && times[index] - times[index - 1] > GAP * interval;
    const isOver = isGap || isSkip;
    if (isSkip) skipped++;
    if (isOver && first !== undefined) found.push({ first, last: index - 1 });
    if (isOver) first = undefined;
    if (index < times.length && Number.isFinite(values[index])) first ??= index;
  }
  return { runs: found, skipped };
}

export function countIn({ first, last }: Run): number {
  return last - first + 1;
}

/** The interval within runs. The median of times that are rounded would be off by too much for long segments. */
function meanInterval(times: Float64Array, runs: readonly Run[]): number {
  let [time, intervals] = [0, 0];
  for (const { first, last } of runs) {
    time += times[last] - times[first];
    intervals += last - first;
  }
  return time / intervals;
}

/** The largest power of two that fits, at most what is wanted. */
function sizeFor(count: number, wanted: number): number {
  let size = wanted;
  while (size > count && size >= 2) size /= 2;
  return size;
}

/** The median of some intervals: a few gaps change nothing. NaN without any. */
function usualInterval(times: Float64Array): number {
  const step = Math.max(1, Math.floor(times.length / 1000));
  const found: number[] = [];
  for (let index = 1; index < times.length; index += step) found.push(times[index] - times[index - 1]);
  return found.sort((one, other) => one - other)[Math.floor(found.length / 2)];
}

/**
 * Values at equal distances, from a sample on. Samples that are nearly so are taken as they are, because values between them
 * would be too small at high frequencies; others are interpolated.
 */
export function evenly(
  times: Float64Array,
  values: Float64Array,
  first: number,
  size: number,
  interval: number,
): Float64Array {
  const start = times[first];
  let isEven = true;
  for (let index = 0; index < size && isEven; index++)
    isEven = Math.abs(times[first + index] - start - index * interval) < JITTER * interval;
  if (isEven) return values.slice(first, first + size);
  const found = new Float64Array(size);
  // The last sample is where it is: a later one may be beyond a gap.
  const step = (times[first + size - 1] - start) / (size - 1);
  let at = first + 1;
  for (let index = 0; index < size; index++) {
    const time = start + index * step;
    while (at < first + size - 1 && times[at] < time) at++;
    const width = times[at] - times[at - 1];
    const share = width > 0 ? Math.min(1, Math.max(0, (time - times[at - 1]) / width)) : 1;
    found[index] = values[at - 1] + share * (values[at] - values[at - 1]);
  }
  return found;
}
