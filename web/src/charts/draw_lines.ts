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

/** Traces a line: through the extremes of each column, so that no spike is lost, and broken where something is missing. */
export function tracePath(line: Line, plot: Plot): Path2D {
  const path = new Path2D();
  const { columns } = line;
  let isOpen = false;
  let before = 0;
  for (let column = 0; column < columns.count; column++) {
    const low = line.low(column);
    const high = line.high(column);
    // Written so that NaN breaks the line as well.
    if (!(low <= high)) {
      isOpen = false;
      continue;
    }
    const x = plot.x(columns.time(column));
    const last = line.last(column);
    if (!isOpen || columns.isBroken(column)) {
      path.moveTo(x, plot.y(low));
      // A lone sample is to be seen, too.
      if (low === high) path.lineTo(x + 1, plot.y(low));
    } else {
      path.lineTo(x, plot.y(Math.abs(before - low) < Math.abs(before - high) ? low : high));
    }
    if (low !== high) {
      path.lineTo(x, plot.y(low));
      path.lineTo(x, plot.y(high));
      path.lineTo(x, plot.y(last));
    }
    before = last;
    isOpen = true;
  }
  return path;
}

/** Traces the area between a line's low and high. */
export function traceArea(line: Line, plot: Plot): Path2D {
  const path = new Path2D();
  const { columns } = line;
  let begin = 0;
  while (begin < columns.count) {
    if (!Number.isFinite(line.high(begin))) {
      begin++;
      continue;
    }
    let end = begin + 1;
    while (end < columns.count && !columns.isBroken(end) && Number.isFinite(line.high(end))) end++;
    path.moveTo(plot.x(columns.time(begin)), plot.y(line.low(begin)));
    for (let column = begin; column < end; column++)
      path.lineTo(plot.x(columns.time(column)), plot.y(line.high(column)));
    for (let column = end - 1; column > begin; column--)
      path.lineTo(plot.x(columns.time(column)), plot.y(line.low(column)));
    path.closePath();
    begin = end;
  }
  return path;
}
