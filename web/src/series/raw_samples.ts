import type { SeriesStore } from './store.ts';

/** Single samples, one column for each series. */
export interface Samples {
  readonly columns: readonly Float64Array[];
  /** Number of samples that each stands for; 1 if absent. */
  readonly weights?: Float64Array;
}

/** Returns the single samples of a time span that are in memory. */
export function rawSamples(store: SeriesStore, series: readonly number[], from: number, to: number): Samples {
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

/** Minimum and maximum of the finite values of a series; not finite without any. */
export type Extreme = readonly [number, number];

/** Rows of folded samples; the last sample of each row stands for all of them. */
export interface Folded extends Samples {
  readonly extremes: readonly Extreme[];
}

/** Approximate maximum of rows for a distribution. */
const MAX_ROWS = 16_384;

/** Returns the samples of a time span in memory: single samples if all of them are there, folded rows otherwise. */
export function samplesOf(store: SeriesStore, series: readonly number[], from: number, to: number): Folded {
  if (hasAllRaw(store) || from >= (rawSince(store) ?? Number.POSITIVE_INFINITY))
    return { ...rawSamples(store, series, from, to), extremes: [] };
  const columns: number[][] = series.map(() => []);
  const weights: number[] = [];
  const extremes = series.map((): [number, number] => [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
  store.visit(from, to, MAX_ROWS, (tier, slot) => {
    if (tier.start[slot] < from || tier.end[slot] > to) return;
    weights.push(tier.count(slot));
    for (let index = 0; index < series.length; index++) {
      const [extreme, of] = [extremes[index], series[index]];
      columns[index].push(tier.last[of][slot]);
      const [low, high] = [tier.min[of][slot], tier.max[of][slot]];
      if (Number.isFinite(low) && low < extreme[0]) extreme[0] = low;
      if (Number.isFinite(high) && high > extreme[1]) extreme[1] = high;
    }
  });
  return {
    columns: columns.map((column) => Float64Array.from(column)),
    weights: Float64Array.from(weights),
    extremes,
  };
}

/** Whether the store has every received sample as a single sample. */
export function hasAllRaw({ tiers: [raw] }: SeriesStore): boolean {
  return raw.first === 0;
}

/** Returns the time of the oldest single sample. */
export function rawSince(store: SeriesStore): number | undefined {
  const raw = store.tiers[0];
  return raw.size === 0 ? undefined : raw.end[raw.slot(raw.first)];
}

/** Concatenates samples in order. */
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
