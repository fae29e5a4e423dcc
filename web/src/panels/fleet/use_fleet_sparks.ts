import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { usePalette } from '../../components/use_palette.ts';
import type { FleetAnswer } from '../../fleet/query.ts';
import { type Grid, placeOf } from './fleet_places.ts';
import { drawSparks, type SparkPlace } from './fleet_sparks.ts';

/** Where the sparklines of a line are, from its corner. */
type Offset = Omit<SparkPlace, 'series' | 'color'>;

/**
 * Draws the sparklines of all lines of an answer on one canvas, which lies among them and scrolls with them: while the list scrolls,
 * nothing is drawn.
 */
export function useFleetSparks(
  list: RefObject<HTMLElement>,
  canvas: RefObject<HTMLCanvasElement>,
  answer: FleetAnswer | undefined,
  metrics: number,
  grid: Grid,
  width: number,
): void {
  const palette = usePalette();
  const offsets = useRef<readonly Offset[]>([]);
  const hasRows = answer?.lines.some(({ kind }) => kind === 'row') ?? false;
  // All lines have their sparklines at the same places, so they are measured only if the columns may have changed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what moves the columns
  useLayoutEffect(() => {
    offsets.current = measure(list.current);
  }, [list, metrics, grid.layout, grid.width, grid.height, width, hasRows]);
  useLayoutEffect(() => {
    if (!canvas.current || !answer) return;
    const { left, right } = extentOf(offsets.current, grid);
    const top = placeOf(grid, answer.first).top;
    const height = Math.ceil(answer.lines.length / grid.perRow) * grid.height;
    const places = placesOf(answer, offsets.current, metrics, grid, { left, top });
    Object.assign(canvas.current.style, { left: `${left}px`, top: `${top}px` });
    drawSparks(canvas.current, { width: right - left, height }, places, answer.sparks, palette);
  }, [canvas, answer, metrics, grid, palette]);
}

function measure(list: HTMLElement | null): Offset[] {
  const line = list?.querySelector('.fleet-row, .fleet-tile:not(.fleet-group)');
  if (!line) return [];
  const corner = line.getBoundingClientRect();
  return [...line.querySelectorAll('.fleet-spark')].map((spark) => {
    const { left, top, width, height } = spark.getBoundingClientRect();
    return { x: left - corner.left, y: top - corner.top, width, height };
  });
}

/** The part of the width that has sparklines. */
function extentOf(offsets: readonly Offset[], grid: Grid): { left: number; right: number } {
  const left = Math.floor(Math.min(...offsets.map(({ x }) => x)));
  const right = Math.ceil(Math.max(...offsets.map(({ x, width }) => x + width)));
  return offsets.length === 0
    ? { left: 0, right: 0 }
    : { left, right: right + (grid.perRow - 1) * grid.width };
}

function placesOf(
  { lines, first }: FleetAnswer,
  offsets: readonly Offset[],
  metrics: number,
  grid: Grid,
  corner: { readonly left: number; readonly top: number },
): SparkPlace[] {
  return lines.flatMap((line, index) => {
    if (line.kind !== 'row') return [];
    const { left, top } = placeOf(grid, first + index);
    return offsets.map((offset, metric) => ({
      ...offset,
      x: left - corner.left + offset.x,
      y: top - corner.top + offset.y,
      series: index * metrics + metric,
      color: metric,
    }));
  });
}
