import { type Fields, isFields, valuesOf } from '../wire/fields.ts';
import {
  columns,
  type FleetMetricChoice,
  type FleetOrder,
  type Grouping,
  groupings,
  MAX_METRICS,
  PERIODS,
} from './query.ts';

/** One row a node, one row an instance, or one tile an instance. */
export const shapes = ['nodes', 'instances', 'tiles'] as const;
export type Shape = (typeof shapes)[number];

/** What a fleet panel shows, as it is saved. */
export interface FleetSettings {
  readonly nodes: string;
  readonly instances: string;
  readonly types: string;
  /** Pairs that all must match; empty for any. */
  readonly labels: string;
  /** Undefined: those of the most common type. */
  readonly metrics?: readonly FleetMetricChoice[];
  readonly period: number;
  readonly shape: Shape;
  readonly order: FleetOrder;
  readonly group: Grouping;
}

export const defaultFleet: FleetSettings = {
  nodes: '*',
  instances: '*',
  types: '*',
  labels: '',
  period: 1,
  shape: 'nodes',
  order: { by: 'name', isDown: false },
  group: { by: 'none', text: '' },
};

/** Longest pattern, as the DAC has it. */
const MAX_PATTERN_LENGTH = 200;

/** Reads settings from outside; what is not valid is as in a new panel. */
export function parseFleet(json: Fields): FleetSettings {
  const metrics = Array.isArray(json.metrics)
    ? valuesOf(json.metrics).flatMap(parseMetric).slice(0, MAX_METRICS)
    : undefined;
  const order = isFields(json.order) ? json.order : {};
  const group = isFields(json.group) ? json.group : {};
  return {
    nodes: pattern(json.nodes),
    instances: pattern(json.instances),
    types: pattern(json.types),
    labels: typeof json.labels === 'string' ? json.labels.slice(0, MAX_PATTERN_LENGTH) : '',
    ...(metrics && { metrics }),
    period: PERIODS.find((period) => period === json.period) ?? defaultFleet.period,
    shape: shapes.find((shape) => shape === json.shape) ?? defaultFleet.shape,
    order: { by: columns.find((name) => name === order.by) ?? 'name', isDown: order.isDown === true },
    group: {
      by: groupings.find((name) => name === group.by) ?? 'none',
      text: typeof group.text === 'string' ? group.text.slice(0, MAX_PATTERN_LENGTH) : '',
    },
  };
}

/** A path alone, as older layouts have it, is a metric in whatever unit is most common. */
function parseMetric(json: unknown): FleetMetricChoice[] {
  const { path, unit } = isFields(json) ? json : { path: json, unit: undefined };
  if (typeof path !== 'string' || path === '' || path.length > MAX_PATTERN_LENGTH) return [];
  return [typeof unit === 'string' && unit.length <= MAX_PATTERN_LENGTH ? { path, unit } : { path }];
}

function pattern(value: unknown): string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_PATTERN_LENGTH ? value : '*';
}
