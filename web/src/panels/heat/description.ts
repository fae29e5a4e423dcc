import { isVector } from '@oasis/wire';
import { lazy } from '../../components/lazy.tsx';
import { partsOf } from '../../series/parts.ts';
import type { Target } from '../../wire/target.ts';
import { describePanel } from '../shared/description.ts';
import { parseName, parseTarget, present } from '../shared/parse.ts';
import { HEAT_FIGURES, type HeatFigure } from './figures.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    /** The elements of a vector over time, with colors for their values. */
    readonly heat: {
      readonly target: Target;
      /** A pattern for the numbers within a vector. */
      readonly metric: string;
      readonly figure?: HeatFigure;
    };
  }
}

export const heat = describePanel<'heat'>({
  kind: 'heat',
  name: 'heat map',
  Panel: lazy(async () => (await import('./heat_panel.tsx')).HeatPanel),
  parse(json) {
    const [target, metric] = [parseTarget(json.target), parseName(json.metric)];
    const figure = HEAT_FIGURES.find((name) => name === json.figure);
    return target && metric !== undefined
      ? { kind: 'heat', target, metric, ...present('figure', figure) }
      : undefined;
  },
  targets: ({ target }) => [target],
  title: ({ metric }, instances) => `${instances} \u00b7 ${metric} heat map`,
  choices: [
    {
      name: 'heat',
      label: 'Heat map',
      about: 'The elements of a vector over time: the color is the value.',
      from: 'metrics',
      needs: 'a vector of numbers',
      fits: (metric) => isVector(metric.type) && partsOf(metric).length > 0,
      build: (metrics, schemaOf) =>
        metrics.flatMap(({ target, metric }) => {
          const found = schemaOf(target)?.metrics.find(({ name }) => name === metric);
          return (found ? partsOf(found) : []).map(({ pattern }) => ({
            kind: 'heat' as const,
            target,
            metric: pattern,
          }));
        }),
    },
  ],
});
