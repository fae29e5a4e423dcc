import type { Samples } from '../series/held.ts';
import type { Points } from './points.ts';

/** What points say of a distribution: the last sample of each stretch, which stands for all of them; and the least and greatest value of each metric. */
export interface Sampled extends Samples {
  readonly weights: Float64Array;
  readonly extremes: readonly (readonly [number, number])[];
  /** Whether any stands for others. */
  readonly isThinned: boolean;
}

/** Of the stretches whose last sample was taken from `from` on and before `to`. */
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

function least(column: Float64Array | undefined, rows: readonly number[], sign = 1): number {
  let found = Number.POSITIVE_INFINITY;
  // A comparison with NaN is false.
  for (const row of rows) if (column && sign * column[row] < found) found = sign * column[row];
  return found;
}
