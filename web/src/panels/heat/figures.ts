/** The value of each column of pixels that is its color. */
export const HEAT_FIGURES = ['max', 'min', 'last'] as const;
export type HeatFigure = (typeof HEAT_FIGURES)[number];
