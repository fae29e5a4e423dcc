import type { Folded } from '../series/raw_samples.ts';
import type { Points } from './points.ts';

/**
 * A distribution from points: the last sample of each step with the step's sample count as its weight, and the minimum and
 * maximum of each metric.
 */
export interface Sampled extends Folded {
  readonly weights: Float64Array;
  /** Whether any sample has a weight above 1. */
  readonly isThinned: boolean;
}

/** Returns the steps whose last sample was taken in `[from, to)`. */
export function sampledOf(points: Points, names: readonly string[], from: number, to: number): Sampled {
  const { rows, counts, places } = points;
  const wanted = [...rows.end.keys()].filter((row) => rows.end[row] >= from && rows.end[row] < to);
  const pick = (column: Float64Array | undefined) =>
    Float64Array.from(wanted, (row) => column?.[row] ?? Number.NaN);
  const weights = pick(counts);
  return {
    columns: names.map((name) => pick(rows.last[places.get(name) ?? -1])),
    weights,
    extremes: names.map((name) => {
      const place = places.get(name) ?? -1;
      return [least(rows.min[place], wanted), -least(rows.max[place], wanted, -1)] as const;
    }),
    isThinned: weights.some((weight) => weight > 1),
  };
}

/**
 * Returns the time at which memory takes over, so that no sample is counted twice and no step is cut. It is the end of the
 * step with the oldest sample in memory if that step is complete, else its start.
 */
export function seamOf({ step, until }: Points, oldest: number): number {
  // Steps start at multiples of their length since 1970.
  const end = Math.ceil(oldest / step) * step;
  return end <= until ? end : Math.floor(oldest / step) * step;
}

function least(column: Float64Array | undefined, rows: readonly number[], sign = 1): number {
  let found = Number.POSITIVE_INFINITY;
  for (const row of rows)
    if (column && Number.isFinite(column[row]) && sign * column[row] < found) found = sign * column[row];
  return found;
}
