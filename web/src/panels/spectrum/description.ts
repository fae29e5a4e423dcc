import { lazy } from '../../components/lazy.tsx';
import { isNumber } from '../../series/metrics.ts';
import { DEFAULT_SIZE, SIZES } from '../../series/spectrum.ts';
import { type WindowName, windowNames } from '../../series/transform.ts';
import { shortText } from '../../state/expressions.ts';
import { describePanel } from '../shared/description.ts';
import {
  expressionsOf,
  parseExpressions,
  targetsOfExpressions,
  withoutExpressionsOf,
} from '../shared/expressions.ts';
import { flag } from '../shared/parse.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    readonly spectrum: {
      readonly expressions: readonly string[];
      readonly size: number;
      readonly window: WindowName;
      readonly isDecibel?: boolean;
      readonly isLogarithmic?: boolean;
      /** Frequencies of the first expression over time. */
      readonly isOverTime?: boolean;
    };
  }
}

export const spectrum = describePanel<'spectrum'>({
  kind: 'spectrum',
  name: 'spectrum',
  Panel: lazy(async () => (await import('./spectrum_panel.tsx')).SpectrumPanel),
  parse(json) {
    const expressions = parseExpressions(json.expressions);
    if (expressions.length === 0) return undefined;
    return {
      kind: 'spectrum',
      expressions,
      size: SIZES.find((size) => size === json.size) ?? DEFAULT_SIZE,
      window: windowNames.find((name) => name === json.window) ?? 'hann',
      ...flag('isDecibel', json.isDecibel),
      ...flag('isLogarithmic', json.isLogarithmic),
      ...flag('isOverTime', json.isOverTime),
    };
  },
  targets: targetsOfExpressions,
  without: withoutExpressionsOf,
  title: ({ expressions }) => `${expressions.map(shortText).join(', ')} \u00b7 spectrum`,
  choices: [
    {
      name: 'spectrum',
      label: 'Spectrum',
      about: 'The frequencies in values that are taken regularly.',
      from: 'metrics',
      needs: 'a number',
      fits: isNumber,
      build: (metrics) => [
        { kind: 'spectrum', expressions: expressionsOf(metrics), size: DEFAULT_SIZE, window: 'hann' },
      ],
    },
  ],
});
