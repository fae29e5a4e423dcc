import { isStruct, isVector, type Metric, type Schema } from '@oasis/wire';
import type { Source } from '../stream/query.ts';
import { keyOf, type Target } from '../stream/view.ts';
import { findWind } from './plan.ts';
import type { PanelContent } from './spec.ts';

/** Kinds of panels with their names on the page. */
export const wantedKinds = [
  'chart',
  'expression',
  'shares',
  'states',
  'gauge',
  'wind',
  'histogram',
  'intervals',
  'events',
  'values',
  'ledger',
  'alarms',
  'test-runs',
] as const;
export type WantedKind = (typeof wantedKinds)[number];

/** A metric of an instance; without one, all of it. */
export interface Pick {
  readonly target: Target;
  readonly metric: string | undefined;
}

/** Whether a panel of a kind can show a metric; without one, whether it shows whole instances. */
export function fits(kind: WantedKind, metric: Metric | undefined): boolean {
  const isWhole = kind === 'wind' || kind === 'intervals' || kind === 'events' || kind === 'values';
  if (!metric) return isWhole;
  if (isWhole || kind === 'expression' || kind === 'ledger' || kind === 'alarms' || kind === 'test-runs')
    return false;
  const { type } = metric;
  if (isVector(type) || isStruct(type)) return false;
  if (kind === 'states') return true;
  if (type === 'string' || type === 'boolean') return false;
  return kind !== 'shares' || metric.kind === 'counter';
}

/** Returns whether a panel of a kind can show instances of a type. */
export function suits(kind: WantedKind, schema: Schema | undefined): boolean {
  if (kind === 'wind') return findWind(schema?.metrics ?? []) !== undefined;
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
    case 'test-runs':
      return [{ kind }];
    case 'expression':
      return [];
    case 'values':
      return picks.map(({ target }) => ({ kind: 'instance', target }));
    case 'wind':
      return picks.flatMap(({ target }) => {
        const wind = findWind(schemaOf(target)?.metrics ?? []);
        return wind ? { kind: 'rose', target, ...wind } : [];
      });
    case 'intervals':
      return picks.map(({ target }) => ({ kind: 'histogram', target, metric: null }));
    case 'events':
      return picks.length === 0 ? [] : [{ kind: 'events', targets: picks.map(({ target }) => target) }];
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

function sourcesOf(metrics: readonly { readonly target: Target; readonly metric: string }[]): Source[] {
  const found = new Map<string, { target: Target; metrics: string[] }>();
  for (const { target, metric } of metrics) {
    const source = found.get(keyOf(target));
    if (source) source.metrics.push(metric);
    else found.set(keyOf(target), { target, metrics: [metric] });
  }
  return [...found.values()];
}
