import type { MapView } from './projection.ts';

/** Pictures of the ground below the tracks, in the usual scheme: squares of Mercator's map. */

export interface Tile {
  readonly address: string;
  /** The same tile has the same key; of several turns of the earth each has its own. */
  readonly key: string;
  /** Pixels from the upper left. */
  readonly x: number;
  readonly y: number;
  readonly size: number;
}

const PIXELS = 256;
const DEEPEST = 22;
/** Most tiles of a drawing. */
const MAX_TILES = 96;

/** The tiles of a drawing. */
export function tilesOf(template: string, view: MapView, width: number, height: number): Tile[] {
  if (view.kind !== 'mercator') return [];
  const world = 2 * Math.PI * view.scale;
  const level = Math.min(DEEPEST, Math.max(0, Math.round(Math.log2(world / PIXELS))));
  const count = 2 ** level;
  const size = world / count;
  const left = world / 2 + view.x * view.scale - width / 2;
  const top = world / 2 - view.y * view.scale - height / 2;
  const tiles: Tile[] = [];
  for (let row = Math.max(0, Math.floor(top / size)); row < count && row * size < top + height; row++) {
    for (let column = Math.floor(left / size); column * size < left + width; column++) {
      if (tiles.length >= MAX_TILES) return tiles;
      const within = ((column % count) + count) % count;
      tiles.push({
        address: template
          .replaceAll('{z}', String(level))
          .replaceAll('{x}', String(within))
          .replaceAll('{y}', String(row)),
        key: `${level} ${column} ${row}`,
        x: column * size - left,
        y: row * size - top,
        size,
      });
    }
  }
  return tiles;
}
