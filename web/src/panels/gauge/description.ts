import { lazy } from '../../components/lazy.tsx';
import { isNumber } from '../../series/metrics.ts';
import type { Target } from '../../wire/target.ts';
import { describePanel } from '../shared/description.ts';
import { parseName, parseTarget, settingsIn } from '../shared/parse.ts';
import type { PanelSettings } from '../shared/settings.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    readonly gauge: { readonly target: Target; readonly metric: string; readonly settings?: PanelSettings };
  }
}

export const gauge = describePanel<'gauge'>({
  kind: 'gauge',
  name: 'gauge',
  Panel: lazy(async () => (await import('./gauge_panel.tsx')).GaugePanel),
  parse(json) {
    const [target, metric] = [parseTarget(json.target), parseName(json.metric)];
    return target && metric !== undefined
      ? { kind: 'gauge', target, metric, ...settingsIn(json) }
      : undefined;
  },
  targets: ({ target }) => [target],
  title: ({ metric }, instances) => `${instances} \u00b7 ${metric} gauge`,
  settings: () => ({ hasValues: true, hasAxis: true, hasLines: false }),
  choices: [
    {
      name: 'gauge',
      label: 'Gauge',
      about: 'The newest value between its limits, one dial for each metric.',
      from: 'metrics',
      needs: 'a number',
      fits: isNumber,
      build: (metrics) => metrics.map((picked) => ({ kind: 'gauge', ...picked })),
    },
  ],
});
