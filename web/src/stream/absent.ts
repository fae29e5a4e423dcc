import type { Batch, Column, Metric, Value } from '@oasis/wire';

/** Names the columns that a sample lacks, although its type has them: they have placeholders there. */
const ABSENT = 'oasis.absent';
/** A metric with the name of another column, such as `time`, is listed as `time_2`. */
const SUFFIX = /_\d+$/;

/** Replaces the placeholders of numbers, truth values and texts by `undefined`. */
export function withoutPlaceholders(batch: Batch, metrics: readonly Metric[]): Batch {
  const listed = metrics.findIndex(({ name }) => name === ABSENT);
  if (listed < 0) return batch;
  const columns: (Column | (Value | undefined)[])[] = [...batch.metrics];
  (batch.metrics[listed] as readonly string[][]).forEach((names, row) => {
    for (const name of names) {
      const place = placeOf(name, metrics);
      if (place < 0) continue;
      if (columns[place] === batch.metrics[place]) columns[place] = Array.from<Value>(batch.metrics[place]);
      (columns[place] as (Value | undefined)[])[row] = undefined;
    }
  });
  return { ...batch, metrics: columns as Column[] };
}

function placeOf(name: string, metrics: readonly Metric[]): number {
  const place = metrics.findIndex((metric) => metric.name === name);
  return place < 0 ? metrics.findIndex((metric) => metric.name === name.replace(SUFFIX, '')) : place;
}
