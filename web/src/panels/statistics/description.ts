import { lazy } from '../../components/lazy.tsx';
import { isNumber } from '../../series/metrics.ts';
import { shortText } from '../../state/expressions.ts';
import { describePanel } from '../shared/description.ts';
import {
  expressionsOf,
  parseExpressions,
  targetsOfExpressions,
  withoutExpressionsOf,
} from '../shared/expressions.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    readonly statistics: { readonly expressions: readonly string[] };
  }
}

export const statistics = describePanel<'statistics'>({
  kind: 'statistics',
  name: 'statistics',
  Panel: lazy(async () => (await import('./statistics_panel.tsx')).StatisticsPanel),
  parse(json) {
    const expressions = parseExpressions(json.expressions);
    return expressions.length > 0 ? { kind: 'statistics', expressions } : undefined;
  },
  targets: targetsOfExpressions,
  without: withoutExpressionsOf,
  title: ({ expressions }) => `${expressions.map(shortText).join(', ')} \u00b7 statistics`,
  choices: [
    {
      name: 'statistics',
      label: 'Statistics',
      about: 'Count, mean, deviation, percentiles and what is missing, of the time shown.',
      from: 'metrics',
      needs: 'a number',
      fits: isNumber,
      build: (metrics) => [{ kind: 'statistics', expressions: expressionsOf(metrics) }],
    },
  ],
});
