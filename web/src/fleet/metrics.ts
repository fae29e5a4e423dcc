import { isStruct, isVector, type Metric, type Schema } from '@oasis/wire';
import { MAX_METRICS } from './query.ts';

/** A metric that a fleet can show: one value of each sample. */
export interface FleetMetric {
  readonly path: string;
  readonly label: string;
  readonly metric: Metric;
}

/** Deepest struct that is offered. */
const DEEPEST = 4;

/** Returns the single values within samples of a type; elements of vectors have no fixed number. */
export function metricsOf(schema: Schema): FleetMetric[] {
  return schema.metrics.flatMap((metric) => within(metric, '', 0));
}

function within(metric: Metric, prefix: string, depth: number): FleetMetric[] {
  const path = prefix + metric.name;
  if (isVector(metric.type) || depth > DEEPEST) return [];
  if (isStruct(metric.type))
    return metric.type.struct.members.flatMap((member) => within(member, `${path}.`, depth + 1));
  return [{ path, label: prefix === '' ? (metric.label ?? metric.name) : path, metric }];
}

/** Returns the metrics of several types, each path once. */
export function metricsOfAll(schemas: readonly Schema[]): FleetMetric[] {
  const found = new Map<string, FleetMetric>();
  for (const schema of schemas)
    for (const metric of metricsOf(schema)) if (!found.has(metric.path)) found.set(metric.path, metric);
  return [...found.values()];
}

/** Returns the metrics that a new panel shows: numbers that go up and down before counters. */
export function suggestedMetrics(schema: Schema): string[] {
  const numbers = metricsOf(schema).filter(
    ({ metric }) => metric.type !== 'string' && metric.kind !== 'event',
  );
  const isCounter = ({ metric }: FleetMetric) => metric.kind === 'counter';
  const sorted = [...numbers.filter((found) => !isCounter(found)), ...numbers.filter(isCounter)];
  return sorted.slice(0, MAX_METRICS).map(({ path }) => path);
}
