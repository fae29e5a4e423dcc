import type { SeriesStore } from './store.ts';

export interface Histogram {
  readonly min: number;
  readonly max: number;
  readonly counts: readonly number[];
  readonly samples: number;
  readonly mean: number;
  readonly median: number;
  readonly p99: number;
}

/** How often values, or the milliseconds from sample to sample, fall into equal bins: of the samples still held one by one. */
export function histogram(
  store: SeriesStore,
  of: { readonly series: number } | 'intervals',
  from: number,
  to: number,
  bins: number,
): Histogram | undefined {
  const values = of === 'intervals' ? intervals(store, from, to) : valuesOf(store, of.series, from, to);
  if (values.length === 0) return undefined;
  values.sort();
  const min = values[0];
  const max = values[values.length - 1];
  const counts: number[] = new Array(bins).fill(0);
  const scale = max > min ? bins / (max - min) : 0;
  let sum = 0;
  for (const value of values) {
    sum += value;
    const bin = Math.min(bins - 1, Math.floor((value - min) * scale));
    counts[bin] = counts[bin] + 1;
  }
  const quantile = (q: number) => values[Math.min(values.length - 1, Math.floor(q * values.length))];
  return {
    min,
    max,
    counts,
    samples: values.length,
    mean: sum / values.length,
    median: quantile(0.5),
    p99: quantile(0.99),
  };
}

function valuesOf(store: SeriesStore, series: number, from: number, to: number): Float64Array {
  const raw = store.tiers[0];
  const begin = raw.lowerBound(from);
  const values = new Float64Array(Math.max(0, raw.next - begin));
  let count = 0;
  for (let index = begin; index < raw.next; index++) {
    const slot = raw.slot(index);
    if (raw.end[slot] > to) break;
    const value = raw.last[series][slot];
    if (Number.isFinite(value)) values[count++] = value;
  }
  return values.subarray(0, count);
}

function intervals(store: SeriesStore, from: number, to: number): Float64Array {
  const raw = store.tiers[0];
  const begin = raw.lowerBound(from);
  const values = new Float64Array(Math.max(0, raw.next - begin));
  let count = 0;
  for (let index = begin + 1; index < raw.next; index++) {
    const slot = raw.slot(index);
    if (raw.end[slot] > to) break;
    if (raw.breaks[slot] === 1) continue;
    values[count++] = raw.end[slot] - raw.end[raw.slot(index - 1)];
  }
  return values.subarray(0, count);
}
