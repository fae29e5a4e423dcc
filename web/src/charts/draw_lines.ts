import { Mark } from '../series/columns.ts';
import { isCutAfter, isCutBefore, type Line } from './line.ts';

/** Maps values and times to pixels of the canvas. */
export interface Plot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  x(time: number): number;
  y(value: number): number;
}

/** Maximum distance of two adjacent bars, in widths of a line. */
const MAX_BAR_GAP = 3;

/**
 * Draws a line in the present color, through the extremes of each column, so that no spike is lost, and broken at gaps and
 * at values that are not finite.
 * A column that only rises or falls is a stroke from the end of the previous one to its own. Others of many samples are
 * vertical bars, because strokes that go back and forth within a pixel are slow. Each bar reaches beyond the end of the
 * previous one, so that they share an edge and not only a corner; a line leads to a bar that is further away.
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
    // This form of the comparison breaks the line at NaN, too.
    if (!(low <= high)) {
      isOpen = false;
      continue;
    }
    const x = plot.x(columns.time(column));
    const isJoined = isOpen && !isCutBefore(line, column);
    const [bottom, top] = [plot.y(low), plot.y(high)];
    if (isStep && isJoined) {
      ctx.lineTo(x, before);
      ctx.moveTo(x, before);
    }
    const last = endOf(line, column, plot);
    if (bottom - top < width) {
      // The end of the column, as slopes have it: at its low end, a curve would have a kink where it gets steep.
      const end = Number.isNaN(last) ? bottom : last;
      if (isJoined) ctx.lineTo(x, end);
      // A single sample must be visible, too.
      else ctx.rect(x - width / 2, end - width / 2, width, width);
      ctx.moveTo(x, end);
      before = end;
      edge = Math.round(x + width / 2);
    } else if (isJoined && isMonotonic(before, last, top, bottom, width / 2)) {
      ctx.lineTo(x, last);
      ctx.moveTo(x, last);
      before = last;
      edge = Math.round(x + width / 2);
    } else {
      const right = Math.round(x + width / 2);
      const isNear = isJoined && right - edge <= MAX_BAR_GAP * width;
      // A line ends at a gap only, which is hatched: never because the next samples are some pixels away.
      if (isJoined && !isNear) ctx.lineTo(x, Math.min(bottom, Math.max(top, before)));
      const from = isNear ? Math.min(top, before - width / 2) : top;
      const to = isNear ? Math.max(bottom, before + width / 2) : bottom;
      // Times within columns differ: a pixel between two bars belongs to the second.
      const left = isNear ? Math.min(edge, right - width) : right - width;
      ctx.fillRect(left, from, right - left, to - from);
      edge = right;
      before = last;
      ctx.moveTo(x, before);
    }
    isOpen = !isCutAfter(line, column);
  }
  ctx.stroke();
}

/** Returns the height of the last value of a column; NaN if that is not finite. */
function endOf({ last }: Line, column: number, plot: Plot): number {
  const value = last(column);
  return Number.isFinite(value) ? plot.y(value) : Number.NaN;
}

/** Length of a mark at an edge, and distance from one sign to the next, in pixels. */
const EDGE_MARK_LENGTH = 7;
const SIGN_DISTANCE = 18;

/** Marks infinite values of a line at the edges of a plot in the present color. */
export function drawInfinities(ctx: CanvasRenderingContext2D, line: Line, plot: Plot, width: number): void {
  const { columns, marks } = line;
  const x = (column: number) => plot.x(columns.time(column));
  drawEdgeMarks(ctx, { count: columns.count, marks, x }, plot, width);
}

/** Columns with the marks of infinite values, from left to right. */
interface MarkedColumns {
  readonly count: number;
  marks(column: number): number;
  /** Place in pixels of the canvas. */
  x(column: number): number;
}

/** Draws marks at the upper and the lower edge, with a sign beside the first of those that are close together. */
export function drawEdgeMarks(
  ctx: CanvasRenderingContext2D,
  { count, marks, x }: MarkedColumns,
  { top, height }: Pick<Plot, 'top' | 'height'>,
  width: number,
): void {
  const edges = [
    { mark: Mark.above, sign: '\u221e', y: top, inward: EDGE_MARK_LENGTH * width },
    { mark: Mark.below, sign: '\u2212\u221e', y: top + height, inward: -EDGE_MARK_LENGTH * width },
  ];
  ctx.textAlign = 'left';
  for (const { mark, sign, y, inward } of edges) {
    let signed = Number.NEGATIVE_INFINITY;
    ctx.textBaseline = inward > 0 ? 'top' : 'bottom';
    for (let column = 0; column < count; column++) {
      if (!(marks(column) & mark)) continue;
      const at = x(column);
      ctx.fillRect(at - width, Math.min(y, y + inward), 2 * width, Math.abs(inward));
      if (at - signed < SIGN_DISTANCE * width) continue;
      signed = at;
      ctx.fillText(sign, at + 2 * width, y);
    }
  }
}

/** Whether a column lies between the end of the previous one and its own last sample, but for so many pixels. */
function isMonotonic(before: number, last: number, top: number, bottom: number, slack: number): boolean {
  return Math.min(before, last) <= top + slack && Math.max(before, last) >= bottom - slack;
}

/** Fills the area between a line's low and high values in the present color. */
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
