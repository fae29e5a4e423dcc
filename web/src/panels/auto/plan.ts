import { isBlob, type Metric, type Schema } from '@oasis/wire';
import { formatUnit } from '../../format/unit.ts';
import { findWind, isEvent, isLine, isState } from '../../series/metrics.ts';
import { partsOf } from '../../series/parts.ts';
import { findPosition, sideOf } from '../../series/positions.ts';
import type { PanelContent } from '../../state/panel_kinds.ts';
import { areSpans } from '../../traces/are_spans.ts';
import type { Target } from '../../wire/target.ts';

/** Most lines in one chart: more cannot be distinguished. */
const LINES = 10;
const CHARTS = 9;
const PART_CHARTS = 4;
const IMAGES = 4;
/** The types that every SDK shares. Their metric `cut` counts bytes of texts that were too long. */
const LOGS = 'OASIS::Program::LogProbe';
const SPANS = 'OASIS::Program::SpanProbe';

const NONE: ReadonlySet<string> = new Set();

/**
 * Returns the panels that suit a probe type, best first: a chart for each unit, those with a metric in alarm before others. They
 * are shown together.
 */
export function planPanels(
  target: Target,
  schema: Schema,
  alarmed: ReadonlySet<string> = NONE,
): PanelContent[] {
  const { metrics } = schema;
  const panels: PanelContent[] = [];
  const images = metrics.filter(({ type }) => isBlob(type)).slice(0, IMAGES);
  panels.push(...images.map(({ name }): PanelContent => ({ kind: 'image', target, metric: name })));
  const position = findPosition(metrics);
  if (position) panels.push({ kind: 'map', tracks: [{ target, ...position }] });
  const wind = findWind(schema);
  if (wind) panels.push({ kind: 'rose', target, ...wind });
  const measured = metrics.filter((metric) => isLine(metric) && isMeasure(metric, schema));
  const isAlarmed = (group: readonly Metric[]) => group.some(({ name }) => alarmed.has(name));
  const byUnit = groups(measured);
  const urgent = byUnit.filter(isAlarmed).map((group) => chart(target, group));
  const charts = byUnit.filter((group) => !isAlarmed(group)).map((group) => chart(target, group));
  const within = metrics.flatMap(partsOf).map(({ pattern, metric }) => partChart(target, pattern, metric));
  panels.push(...charts.slice(0, Math.max(0, CHARTS - urgent.length)), ...within.slice(0, PART_CHARTS));
  const isList = metrics.some(isEvent) || schema.name === SPANS;
  // Texts in a list are read one by one.
  const states = metrics
    .filter((metric) => isState(metric) && !(isList && metric.type === 'string'))
    .map(({ name }) => name);
  if (states.length > 0) panels.push({ kind: 'states', sources: [{ target, metrics: states }] });
  if (isList) panels.unshift({ kind: 'events', targets: [target] });
  if (areSpans(metrics)) panels.unshift({ kind: 'traces', targets: [target] });
  panels.unshift(...urgent);
  // A heartbeat has no value: its regularity is shown.
  if (panels.length === 0) panels.push({ kind: 'histogram', target, metric: null });
  return panels;
}

/** Whether a number measures something: an integer beside texts, without unit and kind, is a line number or an identifier. */
function isMeasure({ name, type, unit, kind }: Metric, schema: Schema): boolean {
  if (name === 'cut' && (schema.name === LOGS || schema.name === SPANS)) return false;
  const isRecord = schema.metrics.some((metric) => metric.type === 'string');
  return !isRecord || unit !== undefined || kind !== undefined || type === 'real32' || type === 'real64';
}

function chart(target: Target, group: readonly Metric[]): PanelContent {
  const sources = [{ target, metrics: group.slice(0, LINES).map(({ name }) => name) }];
  return isShared(group)
    ? { kind: 'series', sources, mode: 'shares' }
    : { kind: 'series', sources, mode: 'lines', title: nameOf(group) };
}

/** A line for each element of a vector. */
function partChart(target: Target, pattern: string, { name, label }: Metric): PanelContent {
  const title = pattern.replace(/\[?\]?\.?[^.]*$/, '');
  const what = title === '' || title === pattern ? (label ?? name) : `${title}: ${label ?? name}`;
  return { kind: 'series', sources: [{ target, metrics: [pattern] }], mode: 'lines', title: what };
}

/** Returns the title of a chart. */
function nameOf(group: readonly Metric[]): string {
  const labels = group.map(({ name, label }) => label ?? name);
  const [{ unit, kind }] = group;
  if (labels.length <= 2 || !unit) return labels.slice(0, 3).join(', ') + (labels.length > 3 ? '\u2026' : '');
  return formatUnit(unit) + (kind === 'counter' ? '/s' : '');
}

/** A counter of time is drawn as a share of time. */
function isShared(group: readonly Metric[]): boolean {
  return group.length >= 3 && group.every(({ kind, unit }) => kind === 'counter' && unit === '{jiffy}');
}

/** Metrics with one unit belong on one axis, counters apart from the rest. */
function groups(metrics: readonly Metric[]): Metric[][] {
  const byUnit = new Map<string, Metric[]>();
  for (const metric of metrics) {
    const unit = `${metric.kind === 'counter'} ${metric.unit ?? ''} ${placeOf(metric)}`;
    const group = byUnit.get(unit);
    if (group) group.push(metric);
    else byUnit.set(unit, [metric]);
  }
  return [...byUnit.values()];
}

/** Latitude and longitude have the unit of angles, and other values: each needs an axis of its own. */
function placeOf(metric: Metric): string {
  return metric.unit === undefined ? '' : (sideOf(metric) ?? '');
}
