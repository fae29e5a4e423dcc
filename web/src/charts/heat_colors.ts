import { path } from './mix.ts';

const STOPS = 7;

/** Colors of values, least first, as `[red, green, blue]`: those of the wind rose. None is that of the panel. */
export function heatColors(count: number): readonly (readonly number[])[] {
  const style = getComputedStyle(document.documentElement);
  const stops = Array.from({ length: STOPS }, (_, index) => style.getPropertyValue(`--wind-${index}`).trim());
  return path(stops, count);
}

/** One of them for a style sheet or a canvas. */
export function cssColor(color: readonly number[]): string {
  return `rgb(${color.join(' ')})`;
}
