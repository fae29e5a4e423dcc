/** What a column of samples comes to. */
export interface Figures {
  readonly count: number;
  readonly mean: number;
  /** Standard deviation of the samples. */
  readonly deviation: number;
  readonly min: number;
  readonly max: number;
  /** At the shares of {@link PERCENTILES}. */
  readonly percentiles: readonly number[];
}

export const PERCENTILES = [0.05, 0.5, 0.95, 0.99] as const;

/** Returns the figures of the values that are known; all of them NaN without any. */
export function figuresOf(values: Float64Array): Figures {
  const known = values.filter((value) => !Number.isNaN(value)).sort();
  const count = known.length;
  const nothing = Number.NaN;
  if (count === 0)
    return {
      count,
      mean: nothing,
      deviation: nothing,
      min: nothing,
      max: nothing,
      percentiles: PERCENTILES.map(() => nothing),
    };
  // Two passes: the sum of squares of large numbers would lose all digits of a small deviation.
  const mean = known.reduce((sum, value) => sum + value, 0) / count;
  const squares = known.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return {
    count,
    mean,
    deviation: count > 1 ? Math.sqrt(squares / (count - 1)) : nothing,
    min: known[0],
    max: known[count - 1],
    percentiles: PERCENTILES.map((share) => quantile(known, share)),
  };
}

/** Between two samples the value is interpolated. */
function quantile(sorted: Float64Array, share: number): number {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(sorted.length - 1, below + 1);
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}
