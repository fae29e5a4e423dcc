import type { Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { FleetAnswer } from '../fleet/query.ts';
import { type Grid, placeOf } from './fleet_places.ts';
import { drawSparks, type SparkPlace } from './fleet_sparks.ts';
import { usePalette } from './use_palette.ts';

/** Where the sparklines of a line are, from its corner. */
type Offset = Omit<SparkPlace, 'series' | 'color'>;

/** Draws the sparklines of all visible lines on one canvas above the list; `draw` follows scrolling. */
export function useFleetSparks(
  list: RefObject<HTMLElement>,
  canvas: RefObject<HTMLCanvasElement>,
  answer: Signal<FleetAnswer | undefined>,
  metrics: number,
  grid: Grid,
): { draw: () => void } {
  const palette = usePalette();
  const frame = useRef<number>();
  const offsets = useRef<readonly Offset[]>([]);
  const paint = useRef(() => {});
  paint.current = () => {
    frame.current = undefined;
    const found = answer.peek();
    if (!list.current || !canvas.current || !found) return;
    const { scrollTop, scrollLeft, clientHeight } = list.current;
    const places = placesOf(found, offsets.current, metrics, grid, { scrollTop, scrollLeft, clientHeight });
    drawSparks(canvas.current, places, found.sparks, palette);
  };
  const draw = () => {
    frame.current ??= requestAnimationFrame(() => paint.current());
  };
  // After each drawing of the list: the columns may have another width.
  useLayoutEffect(() => {
    offsets.current = measure(list.current);
    draw();
  });
  useEffect(() => () => cancelAnimationFrame(frame.current ?? 0), []);
  return { draw };
}

/** All lines have their sparklines at the same places. */
function measure(list: HTMLElement | null): Offset[] {
  const line = list?.querySelector('.fleet-row, .fleet-tile:not(.fleet-group)');
  if (!line) return [];
  const corner = line.getBoundingClientRect();
  return [...line.querySelectorAll('.fleet-spark')].map((spark) => {
    const { left, top, width, height } = spark.getBoundingClientRect();
    return { x: left - corner.left, y: top - corner.top, width, height };
  });
}

function placesOf(
  { lines, first }: FleetAnswer,
  offsets: readonly Offset[],
  metrics: number,
  grid: Grid,
  view: { readonly scrollTop: number; readonly scrollLeft: number; readonly clientHeight: number },
): SparkPlace[] {
  return lines.flatMap((line, index) => {
    const { left, top } = placeOf(grid, first + index);
    const y = top - view.scrollTop;
    if (line.kind !== 'row' || y + grid.height < 0 || y > view.clientHeight) return [];
    return offsets.map((offset, metric) => ({
      ...offset,
      x: left - view.scrollLeft + offset.x,
      y: y + offset.y,
      series: index * metrics + metric,
      color: metric,
    }));
  });
}
