import { visible } from '../../text/visible.ts';
import { isFields } from '../../wire/fields.ts';

/** What somebody draws below the tracks: runways, fences, routes. It is kept in the layout. */

export interface Shape {
  readonly kind: 'point' | 'line' | 'area';
  readonly name?: string;
  /** Longitude and latitude in turn; of an area the outer ring, then its holes. */
  readonly lines: readonly (readonly number[])[];
}

/** What a layout keeps of files at most, in bytes of JSON: a DAC keeps layouts of 128 KiB. */
export const MAX_KEPT = 96 * 1024;
export const MAX_SHAPES = 2000;
export const MAX_POINTS = 20_000;
const MAX_NAME = 100;

/** Parses the shapes of a layout, without invalid ones; undefined without any. */
export function parseShapes(json: unknown): readonly Shape[] | undefined {
  if (!Array.isArray(json)) return undefined;
  let points = 0;
  const shapes = json.slice(0, MAX_SHAPES).flatMap((entry): Shape[] => {
    if (!isFields(entry) || !Array.isArray(entry.lines)) return [];
    const { kind } = entry;
    if (kind !== 'point' && kind !== 'line' && kind !== 'area') return [];
    const lines = entry.lines.filter((line): line is number[] => isLine(line, kind));
    points += lines.reduce((sum, line) => sum + line.length / 2, 0);
    if (lines.length === 0 || lines.length !== entry.lines.length || points > MAX_POINTS) return [];
    return [{ kind, lines, ...named(entry.name) }];
  });
  return shapes.length > 0 && JSON.stringify(shapes).length <= MAX_KEPT ? shapes : undefined;
}

/** Pairs of numbers, of which each kind needs a few. */
export function isLine(line: unknown, kind: Shape['kind']): boolean {
  const least = { point: 2, line: 4, area: 6 }[kind];
  return (
    Array.isArray(line) &&
    line.length >= least &&
    line.length % 2 === 0 &&
    line.every((value, index) => isAngle(value, index % 2 === 0 ? 540 : 90))
  );
}

export function isAngle(value: unknown, most: number): value is number {
  return typeof value === 'number' && Math.abs(value) <= most;
}

/** Hidden characters in names are shown. */
export function named(name: unknown): { name?: string } {
  return typeof name === 'string' && name !== '' ? { name: visible(name).slice(0, MAX_NAME) } : {};
}
