/** Colours that charts are drawn with, from the theme: canvases know nothing of custom properties. */
export interface Palette {
  readonly series: readonly string[];
  readonly text: string;
  readonly muted: string;
  readonly grid: string;
  readonly line: string;
  readonly panel: string;
  readonly accent: string;
  readonly warn: string;
  readonly bad: string;
  readonly info: string;
  readonly font: string;
  /** Without its size. */
  readonly family: string;
  /** Of the font, in pixels of CSS. */
  readonly size: number;
}

export const SERIES_COLOURS = 10;

export function readPalette(): Palette {
  // From the root: a panel behind another has no style.
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const base = Number.parseFloat(style.fontSize) || 14;
  const size = Math.round(base * 0.8);
  return {
    series: Array.from({ length: SERIES_COLOURS }, (_, index) => colour(`--series-${index}`)),
    text: colour('--text'),
    muted: colour('--muted'),
    grid: colour('--grid'),
    line: colour('--line-strong'),
    panel: colour('--panel'),
    accent: colour('--accent'),
    warn: colour('--warn'),
    bad: colour('--bad'),
    info: colour('--info'),
    font: `${size}px ${colour('--sans')}`,
    family: colour('--sans'),
    size,
  };
}
