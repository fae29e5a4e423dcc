import type { Shape } from '../../fleet/settings.ts';

/** How the lines of a fleet are arranged, in CSS pixels. */
export interface Grid {
  /** `wide`: one line a row. `narrow`: names, figures and metrics have a line each. */
  readonly layout: 'wide' | 'narrow' | 'tiles';
  /** From one row to the next. */
  readonly height: number;
  /** Lines in a row, and from one to the next. */
  readonly perRow: number;
  readonly width: number;
  /** Rows after which another part is asked for. */
  readonly step: number;
}

/** In rem, as the style sheet has them. */
const ROW = 2.1;
const NARROW_ROW = 5.4;
const TILE = { width: 11.5, height: 4.7 };
/** Narrower lists have three lines a row. */
const WIDE = 52;
/** Rows that are asked for beyond each edge. */
const BEYOND = 12;
/**
 * Each answer draws all sparklines again, those of a step included, so short steps cost most: a step is about half of
 * what is visible.
 */
const STEP = 12;
const TILE_STEP = 8;

export function gridOf(shape: Shape, width: number, rem: number): Grid {
  if (shape !== 'tiles') {
    const isWide = width >= WIDE;
    const height = Math.round((isWide ? ROW : NARROW_ROW) * rem);
    return { layout: isWide ? 'wide' : 'narrow', height, perRow: 1, width: 0, step: STEP };
  }
  const perRow = Math.max(1, Math.floor(width / TILE.width));
  return {
    layout: 'tiles',
    height: Math.round(TILE.height * rem),
    perRow,
    width: Math.floor((width * rem) / perRow),
    step: TILE_STEP,
  };
}

/** Returns the lines around the visible ones. */
export function partOf(grid: Grid, top: number, height: number): { first: number; count: number } {
  const beyond = grid.layout === 'tiles' ? 4 : BEYOND;
  const row = Math.max(0, Math.floor(top / grid.height) - beyond);
  const rows = Math.ceil(height / grid.height) + 2 * beyond + grid.step;
  return { first: row * grid.perRow, count: rows * grid.perRow };
}

/** Returns the place of a line. */
export function placeOf(grid: Grid, index: number): { left: number; top: number } {
  return { left: (index % grid.perRow) * grid.width, top: Math.floor(index / grid.perRow) * grid.height };
}
