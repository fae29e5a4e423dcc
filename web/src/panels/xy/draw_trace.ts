import type { Plane } from '../../charts/plane.ts';
import type { Trace } from '../../series/trace.ts';

/** Colors of time, oldest first, and how the points are drawn. */
export interface TraceLook {
  readonly colors: readonly string[];
  readonly newest: string;
  readonly isDots: boolean;
}

/** Size of the mark of an infinite value at an edge, in pixels. */
const EDGE_MARK = 6;
/** Number of points from which lines are a pixel wide. Wider lines that often cross take 20 times as long to draw. */
const MAX_THICK_POINTS = 2000;

/**
 * Draws the part of a trace between two times in the colors of time: a stroke for each color. The newest point is a disk, a
 * wanted one a ring.
 */
export function drawTrace(
  ctx: CanvasRenderingContext2D,
  plane: Plane,
  trace: Trace,
  [from, to]: readonly [number, number],
  look: TraceLook,
  wanted: number | undefined,
): void {
  const { times, xs, ys, breaks } = trace;
  const size = Math.max(1, Math.round(devicePixelRatio));
  const colorOf = (index: number) => {
    const share = to > from ? (times[index] - from) / (to - from) : 1;
    return Math.min(look.colors.length - 1, Math.max(0, Math.floor(share * look.colors.length)));
  };
  let color = -1;
  let first = 0;
  while (first < times.length && times[first] < from) first++;
  ctx.lineWidth = times.length - first > MAX_THICK_POINTS ? 1 : 1.5 * size;
  for (let index = first; index < times.length; index++) {
    const [x, y] = within(plane, xs[index], ys[index]);
    if (colorOf(index) !== color) {
      if (color >= 0) ctx.stroke();
      color = colorOf(index);
      ctx.strokeStyle = ctx.fillStyle = look.colors[color];
      ctx.beginPath();
      // The line continues in the next color.
      if (index > first) ctx.moveTo(plane.placeX(xs[index - 1]), plane.placeY(ys[index - 1]));
    }
    if (look.isDots) ctx.fillRect(x - size, y - size, 2 * size, 2 * size);
    else if (breaks[index] === 1) {
      const side = Number.isFinite(xs[index]) && Number.isFinite(ys[index]) ? size : EDGE_MARK * size;
      ctx.fillRect(x - side / 2, y - side / 2, side, side);
      ctx.moveTo(x, y);
    } else ctx.lineTo(x, y);
  }
  if (color >= 0) ctx.stroke();
  ctx.lineWidth = 1.5 * size;
  const last = times.length - 1;
  if (last >= 0) disk(ctx, within(plane, xs[last], ys[last]), 4 * size, look.newest, true);
  if (wanted !== undefined && wanted >= 0)
    disk(ctx, within(plane, xs[wanted], ys[wanted]), 6 * size, look.newest, false);
}

/** Returns the place of a point; an infinite one is at the edge, where it is a mark of its own. */
function within(plane: Plane, x: number, y: number): readonly [number, number] {
  const { left, top, width, height } = plane.area();
  const [across, down] = [plane.placeX(x), plane.placeY(y)];
  return [
    Number.isFinite(x) ? across : Math.min(left + width, Math.max(left, across)),
    Number.isFinite(y) ? down : Math.min(top + height, Math.max(top, down)),
  ];
}

const CORNERS = 16;

function disk(
  ctx: CanvasRenderingContext2D,
  [x, y]: readonly [number, number],
  radius: number,
  color: string,
  isFull: boolean,
): void {
  ctx.beginPath();
  // Corners instead of an arc: pictures record lines.
  for (let corner = 0; corner <= CORNERS; corner++) {
    const angle = (2 * Math.PI * corner) / CORNERS;
    const place = [x + radius * Math.cos(angle), y + radius * Math.sin(angle)] as const;
    if (corner === 0) ctx.moveTo(...place);
    else ctx.lineTo(...place);
  }
  ctx.strokeStyle = ctx.fillStyle = color;
  if (isFull) ctx.fill();
  else ctx.stroke();
}
