import type { Samples } from './raw_samples.ts';
import type { SeriesStore } from './store.ts';
import { ValueScale } from './value_scale.ts';

export interface Histogram {
  readonly min: number;
  readonly max: number;
  readonly counts: readonly number[];
  /** Samples that the histogram was made from. */
  readonly samples: number;
  /** Samples that these stand for. */
  readonly of: number;
  readonly mean: number;
  readonly median: number;
  readonly p99: number;
  /** Number of samples of infinite values, which have no bin. */
  readonly below: number;
  readonly above: number;
}

/**
 * Counts finite values in equal bins. `extremes` are the minimum and maximum of all samples, also of those that others stand
 * for. Without a finite value there are no bins, and without any value it is undefined.
 */
export function histogram(
  { columns: [values], weights }: Samples,
  bins: number,
  extremes: readonly [number, number] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
): Histogram | undefined {
  const [sorted, weight] = sortedBy(values, weights);
  const below = countOf(values, weights, Number.NEGATIVE_INFINITY);
  const above = countOf(values, weights, Number.POSITIVE_INFINITY);
  const none = Number.NaN;
  if (sorted.length === 0)
    return below + above === 0
      ? undefined
      : {
          min: none,
          max: none,
          counts: [],
          samples: 0,
          of: 0,
          mean: none,
          median: none,
          p99: none,
          below,
          above,
        };
  const [least, greatest] = extremes.map((extreme) => (Number.isFinite(extreme) ? extreme : sorted[0]));
  const min = Math.min(sorted[0], least);
  const max = Math.max(sorted[sorted.length - 1], greatest);
  const counts: number[] = new Array(bins).fill(0);
  const scale = new ValueScale(min, max);
  let [sum, shares] = [0, 0];
  let of = 0;
  for (let index = 0; index < sorted.length; index++) {
    const share = scale.share(sorted[index]);
    sum += sorted[index] * weight(index);
    shares += share * weight(index);
    of += weight(index);
    const bin = Math.min(bins - 1, Math.floor(share * bins));
    counts[bin] = counts[bin] + weight(index);
  }
  const quantile = (share: number) => {
    let index = 0;
    for (let before = weight(0); before <= share * of && index < sorted.length - 1; before += weight(index))
      index++;
    return sorted[index];
  };
  return {
    min,
    max,
    counts,
    samples: sorted.length,
    of,
    // The sum of large numbers may be infinite, their mean is not.
    mean: Number.isFinite(sum) ? sum / of : scale.value(shares / of),
    median: quantile(0.5),
    p99: quantile(0.99),
    below,
    above,
  };
}

function countOf(values: Float64Array, weights: Float64Array | undefined, wanted: number): number {
  let count = 0;
  for (let index = 0; index < values.length; index++)
    if (values[index] === wanted) count += weights?.[index] ?? 1;
  return count;
}

/** Returns the numbers in order, and the weight of each. */
function sortedBy(
  values: Float64Array,
  weights: Float64Array | undefined,
): [Float64Array, (index: number) => number] {
  // A typed array sorts numbers many times as fast as a comparison function; most samples have the weight 1.
  if (!weights) return [values.filter(Number.isFinite).sort(), () => 1];
  const single = values.filter((value, index) => weights[index] === 1 && Number.isFinite(value)).sort();
  const heavy = [...values.keys()].filter((index) => weights[index] !== 1 && Number.isFinite(values[index]));
  heavy.sort((one, other) => values[one] - values[other]);
  const sorted = new Float64Array(single.length + heavy.length);
  const weight = new Float64Array(sorted.length);
  let [ones, heavies] = [0, 0];
  for (let index = 0; index < sorted.length; index++) {
    const next = heavy[heavies];
    const isSingle = next === undefined || (ones < single.length && single[ones] <= values[next]);
    sorted[index] = isSingle ? single[ones++] : values[heavy[heavies++]];
    weight[index] = isSingle ? 1 : weights[next];
  }
  return [sorted, (index) => weight[index]];
}

/** Returns the milliseconds between consecutive single samples. */
export function intervals(store: SeriesStore, from: number, to: number): Samples {
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
  return { columns: [values.subarray(0, count)] };
}
