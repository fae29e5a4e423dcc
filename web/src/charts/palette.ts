/** Theme colors for canvases, which cannot read custom properties. */
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
  /** Font family, without the size. */
  readonly family: string;
  /** Font size in CSS pixels. */
  readonly size: number;
}

export const SERIES_COLORS = 10;

export function readPalette(): Palette {
  // Read from the root: a panel in a hidden tab has no style.
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const base = Number.parseFloat(style.fontSize) || 14;
  const size = Math.round(base * 0.8);
  return {
    series: Array.from({ length: SERIES_COLORS }, (_, index) => color(`--series-${index}`)),
    text: color('--text'),
    muted: color('--muted'),
    grid: color('--grid'),
    line: color('--line-strong'),
    panel: color('--panel'),
    accent: color('--accent'),
    warn: color('--warn'),
    bad: color('--bad'),
    info: color('--info'),
    font: `${size}px ${color('--sans')}`,
    family: color('--sans'),
    size,
  };
}

/** Returns the font of a canvas, whose pixels are those of the device. */
export function canvasFont({ font }: Palette): string {
  return font.replace(/^\d+/, (size) => String(Number(size) * devicePixelRatio));
}
