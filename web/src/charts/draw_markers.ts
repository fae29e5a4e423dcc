import type { AlarmSpan } from '../alarms/spans.ts';
import type { Marker } from '../state/markers.ts';
import { colorOf } from './draw_alarms.ts';
import type { Plot } from './draw_lines.ts';
import type { Palette } from './palette.ts';

/** Half the width of a mark, and its height, in pixels. */
const SIZE = 5;
/** Marks that are closer than this are drawn as one, in pixels. */
const MERGE_DISTANCE = 6;
const ERROR = 17;
const WARN = 13;

/** One mark for records that are close together. */
export interface MarkerPlace {
  readonly x: number;
  /** The worst severity. */
  readonly level: number;
}

/** Merges marks that are too close to tell apart; they arrive in the order of time. */
export function placesOf(markers: readonly MarkerPlace[], near: number): MarkerPlace[] {
  const found: { x: number; level: number }[] = [];
  for (const { x, level } of markers) {
    const last = found.at(-1);
    if (last && x - last.x < near) last.level = Math.max(last.level, level);
    else found.push({ x, level });
  }
  return found;
}

/** Draws log records as triangles on the time axis, and the beginnings of alarms as triangles below the upper edge. */
export function drawMarkers(
  ctx: CanvasRenderingContext2D,
  plot: Plot,
  markers: readonly Marker[],
  alarms: readonly AlarmSpan[],
  palette: Palette,
): void {
  const size = SIZE * devicePixelRatio;
  const isSeen = ({ x }: { readonly x: number }) => x >= plot.left && x <= plot.left + plot.width;
  const bottom = plot.top + plot.height;
  const records = markers.map(({ time, level }) => ({ x: plot.x(time), level })).filter(isSeen);
  for (const { x, level } of placesOf(records, MERGE_DISTANCE * devicePixelRatio)) {
    ctx.fillStyle = level >= ERROR ? palette.bad : level >= WARN ? palette.warn : palette.info;
    triangle(ctx, x, bottom - 1.6 * size, bottom, size);
  }
  // Below the bar that shows how long it lasted.
  const top = plot.top + 4 * devicePixelRatio;
  const begun = alarms.filter(({ isActive, isAside }) => isActive && !isAside);
  for (const { x, severity } of begun.map((span) => ({ ...span, x: plot.x(span.from) })).filter(isSeen)) {
    ctx.fillStyle = colorOf(severity, palette);
    triangle(ctx, x, top + 1.6 * size, top, size);
  }
}

function triangle(ctx: CanvasRenderingContext2D, x: number, tip: number, base: number, half: number): void {
  ctx.beginPath();
  ctx.moveTo(x, tip);
  ctx.lineTo(x + half, base);
  ctx.lineTo(x - half, base);
  ctx.closePath();
  ctx.fill();
}
