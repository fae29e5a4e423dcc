import { isStruct, isVector, type Metric, type Schema } from '@oasis/wire';
import { type FleetMetricChoice, type FleetType, MAX_METRICS } from './query.ts';

/** A metric that a fleet can show: one value of each sample. */
export interface FleetMetric {
  readonly path: string;
  readonly label: string;
  readonly metric: Metric;
}

/** A column that can be chosen: metrics of one path and one unit, of all types that have them. */
export interface OfferedMetric extends FleetMetric {
  /** In UCUM; empty without one. */
  readonly unit: string;
  /** The metric of each type, by the hash of its schema. */
  readonly bySchema: ReadonlyMap<string, Metric>;
  /** Instances of these types. */
  readonly instances: number;
}

/** Deepest struct that is offered. */
const DEEPEST = 4;

/** Returns the single values within samples of a type; elements of vectors have no fixed number. */
function metricsOf(schema: Schema): FleetMetric[] {
  return schema.metrics.flatMap((metric) => within(metric, '', 0));
}

function within(metric: Metric, prefix: string, depth: number): FleetMetric[] {
  const path = prefix + metric.name;
  if (isVector(metric.type) || depth > DEEPEST) return [];
  if (isStruct(metric.type))
    return metric.type.struct.members.flatMap((member) => within(member, `${path}.`, depth + 1));
  return [{ path, label: prefix === '' ? (metric.label ?? metric.name) : path, metric }];
}

/** Returns what the types of a fleet have: metrics of one path with different units are different ones. */
export function offeredMetrics(
  types: readonly FleetType[],
  schemaOf: (hash: string) => Schema | undefined,
): OfferedMetric[] {
  const found = new Map<string, OfferedMetric>();
  for (const { schema: hash, count } of types) {
    const schema = schemaOf(hash);
    for (const own of schema ? metricsOf(schema) : []) {
      const unit = unitOf(own.metric);
      const key = keyOfChoice({ path: own.path, unit });
      const known = found.get(key) ?? { ...own, unit, bySchema: new Map(), instances: 0 };
      found.set(key, {
        ...known,
        bySchema: new Map([...known.bySchema, [hash, own.metric]]),
        instances: known.instances + count,
      });
    }
  }
  return [...found.values()];
}

/** Returns what was chosen with the unit that it has; without one, that of the most common type that has the path. */
export function withUnit(
  { path, unit }: FleetMetricChoice,
  offered: readonly OfferedMetric[],
): FleetMetricChoice {
  const found = unit ?? offered.find((metric) => metric.path === path)?.unit;
  return found === undefined ? { path } : { path, unit: found };
}

/** `1` is no unit. */
function unitOf({ unit }: Metric): string {
  return unit === undefined || unit === '1' ? '' : unit;
}

/** A text that is the same for equal choices only. */
export function keyOfChoice({ path, unit }: FleetMetricChoice): string {
  const start = `${path.length} ${path}`;
  return unit === undefined ? start : `${start} ${unit}`;
}

/** Returns the metrics that a new panel shows: those that most instances have, and numbers that go up and down before counters. */
export function suggestedMetrics(offered: readonly OfferedMetric[]): FleetMetricChoice[] {
  const numbers = offered.filter(
    ({ metric }) => metric.type !== 'string' && metric.type !== 'boolean' && metric.kind !== 'event',
  );
  const isCounter = ({ metric }: FleetMetric) => metric.kind === 'counter';
  const sorted = [...numbers.filter((found) => !isCounter(found)), ...numbers.filter(isCounter)];
  return sorted
    .sort((one, other) => other.instances - one.instances)
    .slice(0, MAX_METRICS)
    .map(({ path, unit }) => ({ path, unit }));
}
