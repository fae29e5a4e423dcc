import { scaledSignal } from './transform.ts';
import { finite } from './value_scale.ts';

/** What a column of samples comes to. */
export interface Figures {
  readonly count: number;
  /** How many of them are infinite. */
  readonly infinite: number;
  readonly mean: number;
  /** Standard deviation of the samples. */
  readonly deviation: number;
  readonly min: number;
  readonly max: number;
  /** At the shares of {@link PERCENTILES}. */
  readonly percentiles: readonly number[];
}

const PERCENTILES = [0.05, 0.5, 0.95, 0.99] as const;

/** Returns the figures of the values that are known; all of them NaN without any. */
export function figuresOf(values: Float64Array): Figures {
  const known = values.filter((value) => !Number.isNaN(value)).sort();
  const count = known.length;
  const nothing = Number.NaN;
  if (count === 0)
    return {
      count,
      infinite: 0,
      mean: nothing,
      deviation: nothing,
      min: nothing,
      max: nothing,
      percentiles: PERCENTILES.map(() => nothing),
    };
  const mean = meanOf(known);
  return {
    count,
    infinite: known.filter((value) => !Number.isFinite(value)).length,
    mean,
    deviation: count > 1 ? deviationOf(known, mean) : nothing,
    min: known[0],
    max: known[count - 1],
    percentiles: PERCENTILES.map((share) => quantile(known, share)),
  };
}

/** The mean of a range is finite, even if the sum of its values is not. */
function meanOf(values: Float64Array): number {
  const sum = values.reduce((total, value) => total + value, 0);
  if (Number.isFinite(sum)) return sum / values.length;
  // Halves of the smallest and the largest have a finite sum, and no rest that is far larger than their mean.
  const last = values.length - 1;
  return values.reduce(
    (total, value, index) => total + (value / 2 + values[last - index] / 2) / values.length,
    0,
  );
}

/** Two passes: the sum of squares of large numbers would lose all digits of a small deviation. */
function deviationOf(values: Float64Array, mean: number): number {
  const { values: parts, unit } = scaledSignal(values);
  const squares = parts.reduce((sum, part) => sum + (part - mean / unit) ** 2, 0);
  return finite(Math.sqrt(squares / (values.length - 1)) * unit);
}

/** Between two samples the value is interpolated. */
function quantile(sorted: Float64Array, share: number): number {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(sorted.length - 1, below + 1);
  const [low, high, part] = [sorted[below], sorted[above], place - below];
  if (part === 0 || low === high) return low;
  const width = high - low;
  return Number.isFinite(width) ? low + part * width : low * (1 - part) + high * part;
}
