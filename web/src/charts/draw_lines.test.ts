import { expect, it } from 'vitest';
import { Columns } from '../series/columns.ts';
import { drawLine, type Plot } from './draw_lines.ts';
import type { Line } from './line.ts';

const PLOT: Plot = { left: 0, top: 0, width: 100, height: 100, x: (time) => time, y: (value) => 100 - value };

/** Draws columns of `[time, broken, low, high]` and returns the spans of pixels that a line or a bar covers. */
function covered(
  columns: readonly (readonly [number, boolean, number, number])[],
  width: number,
): number[][] {
  const numbers = columns.flatMap(([time, isBroken, low, high]) => [time, Number(isBroken), low, high, high]);
  const read = new Columns(Float64Array.from(numbers), { offset: 0, count: columns.length, series: 1 });
  const line: Line = {
    columns: read,
    gaps: [],
    low: (column) => read.min(column, 0),
    high: (column) => read.max(column, 0),
    last: (column) => read.last(column, 0),
  };
  const spans: number[][] = [];
  let at = 0;
  const ctx = {
    beginPath() {},
    stroke() {},
    rect: (x: number) => spans.push([x, x + width]),
    moveTo: (x: number) => {
      at = x;
    },
    lineTo: (x: number) => {
      spans.push([at, x]);
      at = x;
    },
    fillRect: (x: number, _: number, length: number) => spans.push([x, x + length]),
  };
  drawLine(ctx as unknown as CanvasRenderingContext2D, line, PLOT, width, false);
  return spans.sort(([one], [other]) => one - other);
}

function hole(spans: readonly number[][]): number[] | undefined {
  let end = spans[0][0];
  for (const [from, to] of spans) {
    if (from > end) return [end, from];
    end = Math.max(end, to);
  }
  return undefined;
}

it('joins bars at any distance and at any density of pixels', () => {
  for (const width of [1, 2, 3]) {
    for (const apart of [1, 2, 4, 7, 40])
      expect(
        hole(
          covered(
            [0, 1, 2, 3].map((n) => [n * apart, false, 0, 50] as const),
            width,
          ),
        ),
      ).toBeUndefined();
    expect(
      hole(
        covered(
          [
            [0, false, 10, 10],
            [30, false, 0, 50],
          ],
          width,
        ),
      ),
    ).toBeUndefined();
    expect(
      hole(
        covered(
          [
            [0, false, 0, 50],
            [30, false, 10, 10],
          ],
          width,
        ),
      ),
    ).toBeUndefined();
  }
});

it('ends a line only where the worker has found a gap', () => {
  const spans = covered(
    [
      [0, false, 0, 50],
      [30, true, 0, 50],
    ],
    2,
  );
  expect(hole(spans)).toEqual([1, 29]);
});
