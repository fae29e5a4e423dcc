import { countIn, evenly, evenRuns, type Sampled } from './even_runs.ts';
import { scaledSignal, Transform, type WindowName } from './transform.ts';
import { finite } from './value_scale.ts';

/** Lengths of a transform. */
export const SIZES = [256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536] as const;

export const DEFAULT_SIZE = 4096;

export interface Spectrum {
  /** Amplitudes of the frequencies from 0 on, in the unit of the signal. */
  readonly amplitudes: Float64Array;
  /** Distance of two frequencies, in hertz. */
  readonly step: number;
  /** Samples a second, and in one transform. */
  readonly rate: number;
  readonly size: number;
  /** Transforms that were averaged, and times without a gap that were too short for one. */
  readonly averaged: number;
  readonly leftOut: number;
  /** Samples with an infinite value: no segment contains one. */
  readonly infinite: number;
  /** How often the probe skipped a period: the signal has a gap there, though no sample is missing. */
  readonly skipped: number;
  /** The value of a signal that does not change: it has no frequencies. */
  readonly constant: number | undefined;
}

/**
 * The spectrum of a signal by Welch's method: transforms of overlapping segments, averaged in power. No segment spans a gap
 * or a value that is unknown or infinite. Where nothing is long enough for the wanted size it takes a smaller one; undefined below 64 samples.
 */
export function spectrumOf(signal: Sampled, wanted: number, window: WindowName): Spectrum | undefined {
  const found = evenRuns(signal, wanted);
  if (!found) return undefined;
  const { runs, size, interval, skipped } = found;
  const { times } = signal;
  const transform = new Transform(size, window);
  const { values, unit } = scaledSignal(signal.values);
  const sum = new Float64Array(size / 2 + 1);
  let averaged = 0;
  for (const { first, last } of runs) {
    // From the end on, so that the newest samples count.
    for (let end = last; end - size + 1 >= first; end -= size / 2) {
      const power = transform.power(evenly(times, values, end - size + 1, size, interval));
      for (let index = 0; index < sum.length; index++) sum[index] += power[index];
      averaged++;
    }
  }
  return {
    amplitudes: sum.map((power, index) => finite(transform.amplitude(power / averaged, index) * unit)),
    step: 1000 / (interval * size),
    rate: 1000 / interval,
    size,
    averaged,
    leftOut: runs.filter((run) => countIn(run) < size).length,
    infinite: signal.values.filter((value) => Math.abs(value) === Number.POSITIVE_INFINITY).length,
    skipped,
    constant: constantOf(signal.values),
  };
}

/** Returns the value that all samples have, unknown ones apart. */
function constantOf(values: Float64Array): number | undefined {
  let found: number | undefined;
  for (const value of values) {
    if (!Number.isFinite(value) || value === found) continue;
    if (found !== undefined) return undefined;
    found = value;
  }
  return found;
}
