import { isStruct, isVector, type Metric, type Schema } from '@oasis/wire';
import { formatReference } from '../expressions/syntax.ts';
import { defaultFleet } from '../fleet/settings.ts';
import { findPosition } from '../map/positions.ts';
import { MAX_TRACKS } from '../map/tracks.ts';
import { partsOf } from '../series/parts.ts';
import { DEFAULT_SIZE } from '../series/spectrum.ts';
import type { Source } from '../stream/query.ts';
import { keyOf, type Target } from '../stream/view.ts';
import { areSpans } from '../traces/are_spans.ts';
import { findWind } from './plan.ts';
import { MAX_EXPRESSIONS, type PanelContent } from './spec.ts';

/** Kinds of panels with their names on the page. */
export const wantedKinds = [
  'chart',
  'expression',
  'xy',
  'spectrum',
  'statistics',
  'number',
  'text',
  'fleet',
  'sql',
  'shares',
  'states',
  'gauge',
  'map',
  'heat',
  'wind',
  'histogram',
  'intervals',
  'events',
  'logs',
  'traces',
  'values',
  'ledger',
  'alarms',
  'alarm-history',
  'rules',
  'test-runs',
] as const;
export type WantedKind = (typeof wantedKinds)[number];

/** A metric of an instance; without one, all of it. */
export interface Pick {
  readonly target: Target;
  readonly metric: string | undefined;
}

/** Kinds that show instances, not some of their metrics. */
const INSTANCE_KINDS: ReadonlySet<WantedKind> = new Set([
  'map',
  'wind',
  'intervals',
  'events',
  'logs',
  'traces',
  'values',
]);

/** Whether a panel of a kind can show a metric; without one, whether it shows whole instances. */
export function fits(kind: WantedKind, metric: Metric | undefined): boolean {
  const isWhole = INSTANCE_KINDS.has(kind);
  if (!metric) return isWhole;
  if (
    isWhole ||
    isTyped(kind) ||
    kind === 'text' ||
    kind === 'fleet' ||
    kind === 'sql' ||
    kind === 'ledger' ||
    kind === 'alarms' ||
    kind === 'alarm-history' ||
    kind === 'rules' ||
    kind === 'test-runs'
  )
    return false;
  const { type } = metric;
  if (kind === 'heat') return isVector(type) && partsOf(metric).length > 0;
  if (isVector(type) || isStruct(type)) return false;
  if (kind === 'states') return true;
  if (type === 'string' || type === 'boolean') return false;
  return kind !== 'shares' || metric.kind === 'counter';
}

/** Returns whether a panel of a kind can show instances of a type. */
export function suits(kind: WantedKind, schema: Schema | undefined): boolean {
  if (kind === 'map') return findPosition(schema?.metrics ?? []) !== undefined;
  if (kind === 'traces') return areSpans(schema?.metrics ?? []);
  if (kind === 'wind') return schema !== undefined && findWind(schema) !== undefined;
  return fits(kind, undefined) || (schema?.metrics.some((metric) => fits(kind, metric)) ?? false);
}

/** Returns the panels for the chosen metrics. */
export function buildPanels(
  kind: WantedKind,
  picks: readonly Pick[],
  schemaOf: (target: Target) => Schema | undefined,
): PanelContent[] {
  const metrics = picks.flatMap(({ target, metric }) => (metric === undefined ? [] : [{ target, metric }]));
  switch (kind) {
    case 'ledger':
    case 'alarms':
    case 'alarm-history':
    case 'rules':
    case 'test-runs':
      return [{ kind }];
    // Kinds whose expressions are typed.
    case 'expression':
    case 'xy':
      return [];
    case 'text':
      return [{ kind: 'text', text: '' }];
    case 'fleet':
      return [{ kind: 'fleet', ...defaultFleet }];
    case 'sql':
      return [{ kind: 'sql', query: '' }];
    case 'number':
      return metrics.map((pick) => ({ kind: 'number', expressions: [expressionOf(pick)] }));
    case 'statistics':
      return metrics.length === 0 ? [] : [{ kind: 'statistics', expressions: expressionsOf(metrics) }];
    case 'spectrum': {
      const expressions = expressionsOf(metrics);
      return expressions.length === 0
        ? []
        : [{ kind: 'spectrum', expressions, size: DEFAULT_SIZE, window: 'hann' }];
    }
    case 'values':
      return picks.map(({ target }) => ({ kind: 'instance', target }));
    case 'map': {
      const tracks = picks.flatMap(({ target }) => {
        const position = findPosition(schemaOf(target)?.metrics ?? []);
        return position ? { target, ...position } : [];
      });
      return tracks.length === 0 ? [] : [{ kind, tracks: tracks.slice(0, MAX_TRACKS) }];
    }
    case 'wind':
      return picks.flatMap(({ target }) => {
        const schema = schemaOf(target);
        const wind = schema && findWind(schema);
        return wind ? { kind: 'rose', target, ...wind } : [];
      });
    case 'intervals':
      return picks.map(({ target }) => ({ kind: 'histogram', target, metric: null }));
    case 'logs':
      return [{ kind: 'logs', targets: picks.map(({ target }) => target) }];
    case 'traces':
      return picks.length === 0 ? [] : [{ kind, targets: picks.map(({ target }) => target) }];
    case 'events':
      return picks.length === 0 ? [] : [{ kind: 'events', targets: picks.map(({ target }) => target) }];
    case 'heat':
      return metrics.flatMap(({ target, metric }) => {
        const found = schemaOf(target)?.metrics.find(({ name }) => name === metric);
        return (found ? partsOf(found) : []).map(({ pattern }) => ({ kind, target, metric: pattern }));
      });
    case 'gauge':
      return metrics.map((pick) => ({ kind: 'gauge', ...pick }));
    case 'histogram':
      return metrics.map((pick) => ({ kind: 'histogram', ...pick }));
    case 'states':
      return metrics.length === 0 ? [] : [{ kind: 'states', sources: sourcesOf(metrics) }];
    default: {
      const mode = kind === 'shares' ? 'shares' : 'lines';
      return metrics.length === 0 ? [] : [{ kind: 'series', sources: sourcesOf(metrics), mode }];
    }
  }
}

interface Picked {
  readonly target: Target;
  readonly metric: string;
}

function expressionsOf(metrics: readonly Picked[]): string[] {
  return metrics.slice(0, MAX_EXPRESSIONS).map(expressionOf);
}

function expressionOf({ target, metric }: Picked): string {
  return formatReference({ node: target.node, instance: target.instance, metric });
}

/** Whether the panel shows what somebody types. */
export function isTyped(kind: WantedKind): boolean {
  return kind === 'expression' || kind === 'xy';
}

function sourcesOf(metrics: readonly Picked[]): Source[] {
  const found = new Map<string, { target: Target; metrics: string[] }>();
  for (const { target, metric } of metrics) {
    const source = found.get(keyOf(target));
    if (source) source.metrics.push(metric);
    else found.set(keyOf(target), { target, metrics: [metric] });
  }
  return [...found.values()];
}
