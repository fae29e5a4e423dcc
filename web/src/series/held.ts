import type { SeriesStore } from './store.ts';

/** Samples one by one, a column a series. */
export interface Samples {
  readonly columns: readonly Float64Array[];
  /** For how many samples each stands; for itself alone if absent. */
  readonly weights?: Float64Array;
}

/** What of a span of time is still held one by one. */
export function heldOf(store: SeriesStore, series: readonly number[], from: number, to: number): Samples {
  const raw = store.tiers[0];
  const begin = raw.lowerBound(from);
  let end = begin;
  while (end < raw.next && raw.end[raw.slot(end)] <= to) end++;
  const columns = series.map((index) => {
    const values = new Float64Array(end - begin);
    for (let row = begin; row < end; row++) values[row - begin] = raw.last[index][raw.slot(row)];
    return values;
  });
  return { columns };
}

/** Since when samples are held one by one. */
export function heldSince(store: SeriesStore): number | undefined {
  const raw = store.tiers[0];
  return raw.size === 0 ? undefined : raw.end[raw.slot(raw.first)];
}

/** One behind the other. */
export function concat(parts: readonly Samples[], series: number): Samples {
  const length = ({ columns }: Samples) => columns[0]?.length ?? 0;
  const joined = (arrays: readonly Float64Array[]) => {
    const all = new Float64Array(arrays.reduce((sum, array) => sum + array.length, 0));
    let at = 0;
    for (const array of arrays) {
      all.set(array, at);
      at += array.length;
    }
    return all;
  };
  const columns = Array.from({ length: series }, (_, index) =>
    joined(parts.map((part) => part.columns[index])),
  );
  if (parts.every((part) => part.weights === undefined)) return { columns };
  return {
    columns,
    weights: joined(parts.map((part) => part.weights ?? new Float64Array(length(part)).fill(1))),
  };
}
