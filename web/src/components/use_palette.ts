import { useMemo } from 'preact/hooks';
import { type Palette, readPalette } from '../charts/palette.ts';
import { theme } from '../state/theme.ts';

/** The colors of the theme for drawing on a canvas. They change with the theme. */
export function usePalette(): Palette {
  const name = theme.value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the style sheet has other colors for another theme
  return useMemo(readPalette, [name]);
}
