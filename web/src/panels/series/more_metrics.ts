import type { Schema } from '@oasis/wire';
import { isNumber } from '../../series/metrics.ts';
import { notify } from '../../state/notice.ts';
import type { ContentOf } from '../../state/panel_kinds.ts';
import { changePanel, findPanel } from '../../state/panels.ts';
import { schemaOfTarget } from '../../state/target_schema.ts';
import { strings } from '../../strings/strings.ts';
import { keyOf } from '../../wire/target.ts';
import type { Dragged } from '../shared/dragged.ts';

/** Adds a metric to a chart that is open; says so if it cannot. */
export function addToChart(id: string, dragged: Dragged): void {
  const spec = findPanel(id);
  const schema = schemaOfTarget(dragged.target);
  const changed = spec?.kind === 'series' && schema ? withDragged(spec, dragged, schema) : undefined;
  if (changed) changePanel(id, changed);
  else notify(strings.panels.cannotAdd);
}

type Content = ContentOf<'series'>;

/** Most lines that a drop adds to a chart. */
const MAX_LINES = 50;

/**
 * Returns a chart with a metric of an instance; without a metric, with those that the chart has of others, or else its first
 * number. Undefined if it has nothing that the chart lacks and could draw.
 */
export function withDragged(chart: Content, dragged: Dragged, schema: Schema): Content | undefined {
  if (chart.mode !== 'lines') return undefined;
  const numbers = schema.metrics.filter(isNumber).map(({ name }) => name);
  const key = keyOf(dragged.target);
  const own = chart.sources.find(({ target }) => keyOf(target) === key)?.metrics ?? [];
  const shown = new Set(chart.sources.flatMap(({ metrics }) => metrics));
  const alike = numbers.filter((name) => shown.has(name));
  const wanted =
    dragged.metric === undefined ? (alike.length > 0 ? alike : numbers.slice(0, 1)) : [dragged.metric];
  const fresh = wanted.filter((name) => numbers.includes(name) && !own.includes(name));
  const count = chart.sources.reduce((sum, { metrics }) => sum + metrics.length, 0);
  if (fresh.length === 0 || count + fresh.length > MAX_LINES) return undefined;
  const { node, instance } = dragged.target;
  const sources =
    own.length > 0
      ? chart.sources.map((source) =>
          keyOf(source.target) === key ? { ...source, metrics: [...source.metrics, ...fresh] } : source,
        )
      : [...chart.sources, { target: { node, instance }, metrics: fresh }];
  // The page has written it for the metrics before.
  const { title: _, ...untitled } = chart;
  return { ...untitled, sources };
}
