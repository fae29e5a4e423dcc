import { lazy } from '../../components/lazy.tsx';
import { isNumber } from '../../series/metrics.ts';
import { shortText } from '../../state/expressions.ts';
import { describePanel } from '../shared/description.ts';
import {
  expressionOf,
  parseExpressions,
  targetsOfExpressions,
  withoutExpressionsOf,
} from '../shared/expressions.ts';
import { settingsIn } from '../shared/parse.ts';
import type { PanelSettings } from '../shared/settings.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    readonly number: { readonly expressions: readonly string[]; readonly settings?: PanelSettings };
  }
}

export const number = describePanel<'number'>({
  kind: 'number',
  name: 'number',
  Panel: lazy(async () => (await import('./number_panel.tsx')).NumberPanel),
  parse(json) {
    const expressions = parseExpressions(json.expressions);
    return expressions.length > 0 ? { kind: 'number', expressions, ...settingsIn(json) } : undefined;
  },
  targets: targetsOfExpressions,
  without: withoutExpressionsOf,
  title: ({ expressions }) => expressions.map(shortText).join(', '),
  settings: () => ({ hasValues: true, hasAxis: false, hasLines: false }),
  choices: [
    {
      name: 'number',
      label: 'Number',
      about: 'The newest value in large digits, with its course.',
      from: 'metrics',
      needs: 'a number',
      fits: isNumber,
      build: (metrics) => metrics.map((picked) => ({ kind: 'number', expressions: [expressionOf(picked)] })),
    },
  ],
});
