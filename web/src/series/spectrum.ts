import { Fft } from './fft.ts';

/** Window functions, by the weights of their cosines. */
const WINDOWS = {
  hann: [0.5, 0.5],
  blackman: [0.42, 0.5, 0.08],
  flattop: [0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368],
  none: [1],
} as const satisfies Record<string, readonly number[]>;
export type WindowName = keyof typeof WINDOWS;
export const windowNames = Object.keys(WINDOWS) as WindowName[];

/** Lengths of a transform. */
export const SIZES = [256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536] as const;

export const DEFAULT_SIZE = 4096;

/** Samples over time, unknown where they are NaN; breaks as in `expressions/signal`. */
export interface Sampled {
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly breaks: Uint8Array;
}

export interface Spectrum {
  /** Amplitudes of the frequencies from 0 on, in the unit of the signal. */
  readonly amplitudes: Float64Array;
  /** Distance of two frequencies, in hertz. */
  readonly step: number;
  /** Samples a second, and in one transform. */
  readonly rate: number;
  readonly size: number;
  /** Transforms that were averaged, and times between gaps that were too short for one. */
  readonly averaged: number;
  readonly leftOut: number;
}

const SMALLEST = 64;
/** Samples further apart than this many times the usual interval have a gap between them. */
const GAP = 1.9;
/** Samples that are less than this share of an interval from their place are evenly spaced. */
const JITTER = 0.25;

/**
 * The spectrum of a signal by Welch's method: transforms of overlapping segments, averaged in power. No segment spans a gap
 * or an unknown value. Where nothing is long enough for the wanted size it takes a smaller one; undefined below 64 samples.
 */
export function spectrumOf(signal: Sampled, wanted: number, window: WindowName): Spectrum | undefined {
  const { times, values } = signal;
  const runs = runsIn(signal, usualInterval(times));
  const size = sizeFor(Math.max(0, ...runs.map(countIn)), wanted);
  const interval = meanInterval(times, runs);
  if (size < SMALLEST || !(interval > 0)) return undefined;
  const segment = new Segment(size, window);
  for (const { first, last } of runs) {
    // From the end on, so that the newest samples count.
    for (let end = last; end - size + 1 >= first; end -= size / 2)
      segment.add(evenly(times, values, end - size + 1, size, interval));
  }
  return {
    amplitudes: segment.amplitudes(),
    step: 1000 / (interval * size),
    rate: 1000 / interval,
    size,
    averaged: segment.count,
    leftOut: runs.filter((run) => countIn(run) < size).length,
  };
}

/** Samples without a gap between them, by index. */
interface Run {
  readonly first: number;
  readonly last: number;
}

function runsIn({ times, values, breaks }: Sampled, interval: number): Run[] {
  const found: Run[] = [];
  let first: number | undefined;
  for (let index = 0; index <= times.length; index++) {
    const isOver =
      index === times.length ||
      Number.isNaN(values[index]) ||
      (first !== undefined &&
        index > first &&
        (breaks[index] === 1 || times[index] - times[index - 1] > GAP * interval));
    if (isOver && first !== undefined) found.push({ first, last: index - 1 });
    if (isOver) first = undefined;
    if (index < times.length && !Number.isNaN(values[index])) first ??= index;
  }
  return found;
}

function countIn({ first, last }: Run): number {
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
function evenly(
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

/** Averages the transforms of segments. */
class Segment {
  count = 0;
  private readonly fft: Fft;
  private readonly weights: Float64Array;
  private readonly sum: Float64Array;

  constructor(
    private readonly size: number,
    window: WindowName,
  ) {
    this.fft = fftOf(size);
    this.sum = new Float64Array(size / 2 + 1);
    this.weights = weightsOf(window, size);
  }

  add(values: Float64Array): void {
    // Without its mean the window does not smear a large constant over the lowest frequencies.
    const mean = values.reduce((sum, value) => sum + value, 0) / this.size;
    const weighted = values.map((value, index) => (value - mean) * this.weights[index]);
    const power = this.fft.power(weighted);
    for (let index = 0; index < power.length; index++) this.sum[index] += power[index];
    this.count++;
  }

  /** The size of a sine of each frequency. */
  amplitudes(): Float64Array {
    const gain = this.weights.reduce((sum, weight) => sum + weight, 0);
    return this.sum.map((power, index) => {
      const isOnce = index === 0 || index === this.sum.length - 1;
      return this.count === 0 ? Number.NaN : ((isOnce ? 1 : 2) * Math.sqrt(power / this.count)) / gain;
    });
  }
}

let lastFft: Fft | undefined;

function fftOf(size: number): Fft {
  if (lastFft?.size !== size) lastFft = new Fft(size);
  return lastFft;
}

function weightsOf(window: WindowName, size: number): Float64Array {
  const cosines: readonly number[] = WINDOWS[window];
  return Float64Array.from({ length: size }, (_, index) => {
    const angle = (2 * Math.PI * index) / size;
    return cosines.reduce(
      (sum, weight, order) => sum + (order % 2 === 0 ? weight : -weight) * Math.cos(order * angle),
      0,
    );
  });
}
