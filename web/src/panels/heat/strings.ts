import type { HeatFigure } from './figures.ts';

/** The heat map. Its code is loaded when the first one is shown. */
export const heatStrings = {
  about: (metric: string, instance: string) => `Heat map of ${metric} of ${instance}: elements over time`,
  empty: 'No values in the time shown.',
  figure: 'Color',
  figures: { max: 'maximum', min: 'minimum', last: 'last value' } satisfies Record<HeatFigure, string>,
  infinite: (cells: string) => `infinite: ${cells}`,
  scale: 'Colors of values, least to greatest',
  cell: (time: string, element: string, last: string, min: string, max: string) =>
    `${time} \u00b7 ${element}: ${last} (min ${min}, max ${max})`,
  column: (time: string, low: string, lowest: string, high: string, highest: string) =>
    `${time}: least ${low} (${lowest}), greatest ${high} (${highest})`,
  nothing: (time: string) => `${time}: no value`,
  table: { time: 'time', element: 'element', figures: ['min', 'max', 'last'] },
};
