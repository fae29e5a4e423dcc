import type { FleetRow } from '../../fleet/query.ts';
import type { Shape } from '../../fleet/settings.ts';
import { formatInteger } from '../../format/number.ts';
import { isNumber } from '../../series/metrics.ts';
import { activeDock } from '../../state/active_dock.ts';
import { notify } from '../../state/notice.ts';
import { openPanel } from '../../state/panels.ts';
import type { Source } from '../../stream/query.ts';
import type { ShownMetric } from './fleet_metrics.ts';
import { fleetStrings as words } from './strings.ts';

/** Most lines of a comparison. The colors of a chart repeat after ten. */
export const MAX_COMPARED = 20;

/** Returns why a metric of these rows cannot be compared; undefined if it can. */
export function whyNotCompared(
  metric: ShownMetric,
  place: number,
  chosen: readonly FleetRow[],
  shape: Shape,
): string | undefined {
  if (metric.metric && !isNumber(metric.metric)) return words.notNumbers(metric.label);
  if (chosen.length > 0)
    return chosen.every(({ sources }) => sources[place] === undefined)
      ? words.noneSelected(metric.label)
      : undefined;
  return metric.instances === 0 ? words.noneHas(words.one[shape], metric.label) : undefined;
}

/** Opens one chart with a metric of many rows. */
export function compare(rows: readonly FleetRow[], place: number, metric: ShownMetric): void {
  const all = rows.flatMap((row): Source[] => {
    const instance = row.sources[place];
    return instance === undefined ? [] : [{ target: { node: row.node, instance }, metrics: [metric.path] }];
  });
  const sources = all.slice(0, MAX_COMPARED);
  if (sources.length === 0) {
    notify(words.noValueYet(metric.label));
    return;
  }
  if (all.length > sources.length) notify(words.compared(sources.length, formatInteger(all.length)));
  const panel = openPanel({ kind: 'series', sources, mode: 'lines', title: metric.label });
  activeDock()?.focus(panel.id);
}
