import type { Palette } from '../charts/palette.ts';
import { POINTS } from '../fleet/query.ts';

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
  values: Float32Array,
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

function trace(context: CanvasRenderingContext2D, place: SparkPlace, values: Float32Array): void {
  const start = place.series * POINTS;
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let point = 0; point < POINTS; point++) {
    const value = values[start + point];
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!(low <= high) || !Number.isFinite(low) || !Number.isFinite(high)) return;
  const scale = high > low ? (place.height - 2) / (high - low) : 0;
  const step = place.width / (POINTS - 1);
  let isOpen = false;
  for (let point = 0; point < POINTS; point++) {
    const value = values[start + point];
    if (Number.isNaN(value)) {
      isOpen = false;
      continue;
    }
    const x = place.x + point * step;
    const y = scale === 0 ? place.y + place.height / 2 : place.y + place.height - 1 - (value - low) * scale;
    if (isOpen) context.lineTo(x, y);
    else {
      context.moveTo(x, y);
      // A single point is a short line: nothing else of it would be visible.
      context.lineTo(x + 1, y);
    }
    isOpen = true;
  }
}
