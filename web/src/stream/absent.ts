import { type Batch, type Column, isVector, type Metric, type Value } from '@oasis/wire';

/** Names the columns that a sample lacks, although its type has them: they have placeholders there. */
const ABSENT = 'oasis.absent';
/** Columns before the metrics of a table (docs/reference/tables.md): a metric `time` is listed as `time_2`. */
const FIXED = 'node instance run epoch offset sequence time time_ns state'.split(' ');

/** Replaces the placeholders of metrics by `undefined`. */
export function withoutPlaceholders(batch: Batch, metrics: readonly Metric[]): Batch {
  const listed = metrics.findIndex(({ name }) => name === ABSENT);
  const type = metrics[listed]?.type;
  if (!type || !isVector(type) || type.vector !== 'string') return batch;
  const lists = batch.metrics[listed] as readonly string[][];
  if (lists.every(({ length }) => length === 0)) return batch;
  const places = placesOf(metrics);
  const columns: (Column | (Value | undefined)[])[] = [...batch.metrics];
  lists.forEach((names, row) => {
    for (const name of names) {
      const place = places.get(name);
      if (place === undefined) continue;
      if (columns[place] === batch.metrics[place]) columns[place] = Array.from<Value>(batch.metrics[place]);
      (columns[place] as (Value | undefined)[])[row] = undefined;
    }
  });
  return { ...batch, metrics: columns as Column[] };
}

function placesOf(metrics: readonly Metric[]): Map<string, number> {
  const places = new Map<string, number>();
  const taken = new Set(FIXED);
  metrics.forEach(({ name }, index) => {
    let free = name;
    for (let suffix = 2; taken.has(free.toLowerCase()); suffix++) free = `${name}_${suffix}`;
    taken.add(free.toLowerCase());
    places.set(free, index);
  });
  return places;
}
