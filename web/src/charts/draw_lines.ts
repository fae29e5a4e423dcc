import type { Line } from './line.ts';

/** Where a value and a time lie on the canvas. */
export interface Plot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  x(time: number): number;
  y(value: number): number;
}

/** Pixels from one bar to the next that are no gap. */
const SLACK = 3;

/**
 * Draws a line in the color that is set: through the extremes of each column, so that no spike is lost, and broken where
 * something is missing. Columns of many samples are upright bars, for strokes that go back and forth within a pixel are slow
 * to draw; each bar reaches to where the one before ended.
 */
export function drawLine(
  ctx: CanvasRenderingContext2D,
  line: Line,
  plot: Plot,
  width: number,
  isStep: boolean,
): void {
  const { columns } = line;
  ctx.beginPath();
  let isOpen = false;
  let before = 0;
  let edge = Number.NEGATIVE_INFINITY;
  for (let column = 0; column < columns.count; column++) {
    const low = line.low(column);
    const high = line.high(column);
    // Written so that NaN breaks the line as well.
    if (!(low <= high)) {
      isOpen = false;
      continue;
    }
    const x = plot.x(columns.time(column));
    const isJoined = isOpen && !columns.isBroken(column);
    const [bottom, top] = [plot.y(low), plot.y(high)];
    if (isStep && isJoined) {
      ctx.lineTo(x, before);
      ctx.moveTo(x, before);
    }
    if (bottom - top < width) {
      if (isJoined) ctx.lineTo(x, bottom);
      // A lone sample is to be seen, too.
      else ctx.rect(x - width / 2, bottom - width / 2, width, width);
      ctx.moveTo(x, bottom);
      before = bottom;
    } else {
      const from = isJoined ? Math.min(top, before) : top;
      const to = isJoined ? Math.max(bottom, before) : bottom;
      const right = Math.round(x + width / 2);
      // Times within columns differ: a pixel that falls between two bars belongs to the second.
      const left = isJoined && right - edge <= SLACK ? Math.min(edge, right - width) : right - width;
      ctx.fillRect(left, from, right - left, to - from);
      edge = right;
      before = plot.y(line.last(column));
      ctx.moveTo(x, before);
    }
    isOpen = true;
  }
  ctx.stroke();
}

/** Fills the area between a line's low and high in the color that is set. */
export function fillArea(ctx: CanvasRenderingContext2D, line: Line, plot: Plot): void {
  ctx.beginPath();
  const { columns } = line;
  let begin = 0;
  while (begin < columns.count) {
    if (!Number.isFinite(line.high(begin))) {
      begin++;
      continue;
    }
    let end = begin + 1;
    while (end < columns.count && !columns.isBroken(end) && Number.isFinite(line.high(end))) end++;
    ctx.moveTo(plot.x(columns.time(begin)), plot.y(line.low(begin)));
    for (let column = begin; column < end; column++)
      ctx.lineTo(plot.x(columns.time(column)), plot.y(line.high(column)));
    for (let column = end - 1; column > begin; column--)
      ctx.lineTo(plot.x(columns.time(column)), plot.y(line.low(column)));
    ctx.closePath();
    begin = end;
  }
  ctx.fill();
}
