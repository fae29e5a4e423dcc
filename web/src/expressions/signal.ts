/** Numbers over time: samples, or what was computed from them. Times are milliseconds and never step back. */
export interface Signal {
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** 1 if samples are missing, or were interrupted, before a value. */
  readonly breaks: Uint8Array;
  /** How long a value counts if no newer one arrives; milliseconds. */
  readonly maxAge: number;
  /** Time until which the last value counts, of an instance that takes no samples now. */
  readonly until: number;
}

/** Signals at common times. A value that is not known at a time is NaN. */
export interface Aligned {
  readonly times: Float64Array;
  readonly breaks: Uint8Array;
  readonly columns: readonly Float64Array[];
  readonly maxAge: number;
  readonly until: number;
}

/** Puts signals on one time line: each holds its value until its next one, a gap, or its greatest age. */
export function align(signals: readonly Signal[]): Aligned {
  const [first] = signals;
  const maxAge = Math.max(...signals.map((signal) => signal.maxAge));
  const until = Math.min(...signals.map((signal) => signal.until));
  // Metrics of one instance have the same times.
  if (signals.every(({ times }) => times === first.times))
    return {
      times: first.times,
      breaks: first.breaks,
      columns: signals.map(({ values }) => values),
      maxAge,
      until,
    };
  const times = merged(signals);
  const breaks = new Uint8Array(times.length);
  const columns = signals.map((signal) => held(signal, times, breaks));
  return { times, breaks, columns, maxAge, until };
}

/** All times, each once. */
function merged(signals: readonly Signal[]): Float64Array {
  const all = new Float64Array(signals.reduce((sum, { times }) => sum + times.length, 0));
  let at = 0;
  for (const times of new Set(signals.map((signal) => signal.times))) {
    all.set(times, at);
    at += times.length;
  }
  const sorted = all.subarray(0, at).sort();
  let count = 0;
  for (let index = 0; index < at; index++) {
    if (count > 0 && sorted[index] === sorted[count - 1]) continue;
    sorted[count] = sorted[index];
    count++;
  }
  return sorted.subarray(0, count);
}

/** Returns the values of a signal at other times, and marks the first time after each of its gaps. */
export function held(
  { times, values, breaks, maxAge, until }: Signal,
  at: Float64Array,
  broken = new Uint8Array(at.length),
): Float64Array {
  const found = new Float64Array(at.length).fill(Number.NaN);
  let next = 0;
  for (let index = 0; index < at.length; index++) {
    const time = at[index];
    while (next < times.length && times[next] <= time) {
      if (breaks[next] === 1) broken[index] = 1;
      next++;
    }
    const last = next - 1;
    if (last < 0) continue;
    // Within a gap nothing is known, however short it is.
    const isInGap = times[last] < time && next < times.length && breaks[next] === 1;
    const isOver = next === times.length && time > until;
    if (!isInGap && !isOver && time - times[last] <= maxAge) found[index] = values[last];
  }
  return found;
}
