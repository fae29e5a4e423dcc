import type { Palette } from '../../charts/palette.ts';
import { POINTS } from '../../fleet/query.ts';
import { finiteExtremes, ValueScale } from '../../series/value_scale.ts';

/** Where a sparkline is drawn, in CSS pixels of the canvas. */
export interface SparkPlace {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Number of its values in the answer: `POINTS` each. */
  readonly series: number;
  readonly color: number;
}

/** Draws all sparklines of a list on one canvas. Each has its own scale. */
export function drawSparks(
  canvas: HTMLCanvasElement,
  { width, height }: { readonly width: number; readonly height: number },
  places: readonly SparkPlace[],
  values: Float64Array,
  palette: Palette,
): void {
  const ratio = window.devicePixelRatio;
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  // Setting the size clears the canvas, so it is set only if it is another one.
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d');
  if (!context) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.lineWidth = 1.25;
  context.lineJoin = 'round';
  for (const color of new Set(places.map((place) => place.color))) {
    // One stroke for all lines of a color.
    context.beginPath();
    for (const place of places) if (place.color === color) trace(context, place, values);
    context.strokeStyle = palette.series[color % palette.series.length];
    context.stroke();
  }
}

/** Length of the mark of an infinite value at an edge, in CSS pixels. */
const EDGE_MARK = 3;

/** Draws a line through finite values. It breaks at the others, and an infinite one is a mark at its edge. */
export function trace(
  context: Pick<CanvasRenderingContext2D, 'moveTo' | 'lineTo'>,
  place: SparkPlace,
  values: Float64Array,
): void {
  const start = place.series * POINTS;
  const own = values.subarray(start, start + POINTS);
  const scale = new ValueScale(...finiteExtremes(own));
  const step = place.width / (POINTS - 1);
  const bottom = place.y + place.height;
  let isOpen = false;
  for (const [point, value] of own.entries()) {
    const x = place.x + point * step;
    if (!Number.isFinite(value)) {
      isOpen = false;
      if (Number.isNaN(value)) continue;
      context.moveTo(x, value > 0 ? place.y : bottom);
      context.lineTo(x, value > 0 ? place.y + EDGE_MARK : bottom - EDGE_MARK);
      continue;
    }
    const y = bottom - 1 - scale.share(value) * (place.height - 2);
    if (isOpen) context.lineTo(x, y);
    else {
      context.moveTo(x, y);
      // A single point is a short line: nothing else of it would be visible.
      context.lineTo(x + 1, y);
    }
    isOpen = true;
  }
}
