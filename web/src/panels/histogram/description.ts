import { lazy } from '../../components/lazy.tsx';
import { isNumber } from '../../series/metrics.ts';
import { strings } from '../../strings/strings.ts';
import type { Target } from '../../wire/target.ts';
import { describePanel } from '../shared/description.ts';
import { parseName, parseTarget } from '../shared/parse.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    /** Without a metric, the intervals between samples. */
    readonly histogram: { readonly target: Target; readonly metric: string | null };
  }
}

export const histogram = describePanel<'histogram'>({
  kind: 'histogram',
  name: 'histogram',
  Panel: lazy(async () => (await import('./histogram_panel.tsx')).HistogramPanel),
  parse(json) {
    const target = parseTarget(json.target);
    return target && { kind: 'histogram', target, metric: parseName(json.metric) ?? null };
  },
  targets: ({ target }) => [target],
  title: ({ metric }, instances) =>
    `${instances} \u00b7 ${metric === null ? strings.panels.intervals : `${metric} histogram`}`,
  choices: [
    {
      name: 'histogram',
      label: 'Histogram',
      about: 'The distribution of values, one histogram for each metric.',
      from: 'metrics',
      needs: 'a number',
      fits: isNumber,
      build: (metrics) => metrics.map((picked) => ({ kind: 'histogram', ...picked })),
    },
    {
      name: 'intervals',
      label: 'Intervals',
      about: 'The distribution of the time between samples.',
      from: 'instances',
      build: (targets) => targets.map((target) => ({ kind: 'histogram', target, metric: null })),
    },
  ],
});
