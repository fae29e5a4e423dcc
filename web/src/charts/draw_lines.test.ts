import { expect, it } from 'vitest';
import { Columns, Mark } from '../series/columns.ts';
import { drawInfinities, drawLine, type Plot } from './draw_lines.ts';
import type { Line } from './line.ts';

const PLOT: Plot = { left: 0, top: 0, width: 100, height: 100, x: (time) => time, y: (value) => 100 - value };

type Column = readonly [
  time: number,
  isBroken: boolean,
  low: number,
  high: number,
  last?: number,
  marks?: number,
];

function lineOf(columns: readonly Column[]): Line {
  const numbers = columns.flatMap(([time, isBroken, low, high, last, marks]) => [
    time,
    Number(isBroken),
    low,
    high,
    last ?? high,
    marks ?? 0,
  ]);
  const read = new Columns(Float64Array.from(numbers), { offset: 0, count: columns.length, series: 1 });
  return {
    columns: read,
    gaps: [],
    low: (column) => read.min(column, 0),
    high: (column) => read.max(column, 0),
    last: (column) => read.last(column, 0),
    marks: (column) => read.marks(column, 0),
  };
}

/** Draws columns and returns the spans of pixels that a line or a bar covers. */
function covered(columns: readonly Column[], width: number): number[][] {
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
  drawLine(ctx as unknown as CanvasRenderingContext2D, lineOf(columns), PLOT, width, false);
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

it('breaks a line at infinite values and at NaN, within a column too', () => {
  const { POSITIVE_INFINITY, NEGATIVE_INFINITY } = Number;
  const around = (...between: Column[]): Column[] => [[0, false, 10, 10], ...between, [60, false, 20, 20]];
  const nothing = [POSITIVE_INFINITY, NEGATIVE_INFINITY] as const;
  // Alone in its column, before and after finite ones, and unknown at the end of a column.
  expect(hole(covered(around([30, false, ...nothing, POSITIVE_INFINITY, Mark.above]), 2))).toEqual([1, 59]);
  expect(hole(covered(around([30, false, 10, 10, 10, Mark.below]), 2))).toEqual([1, 29]);
  expect(hole(covered(around([30, false, 10, 10, POSITIVE_INFINITY, Mark.above]), 2))).toEqual([1, 29]);
  expect(hole(covered(around([30, false, 10, 10, 10, Mark.broken]), 2))).toEqual([1, 29]);
  expect(hole(covered(around([30, false, 10, 10, 10, Mark.ended]), 2))).toEqual([30, 59]);
  expect(hole(covered(around([30, false, 10, 10]), 2))).toBeUndefined();
});

it('marks infinite values at the edges, with a sign beside the first of several', () => {
  const [bars, signs]: [number[][], unknown[][]] = [[], []];
  const ctx = {
    fillRect: (...bar: number[]) => bars.push(bar),
    fillText: (...sign: unknown[]) => signs.push(sign),
  };
  const { NaN: none } = Number;
  const line = lineOf([
    [10, false, 1, 2, 2],
    [20, false, none, none, none, Mark.above],
    [22, false, 1, 2, 2, Mark.above | Mark.below],
    [60, false, 1, 2, 2, Mark.above],
  ]);
  drawInfinities(ctx as unknown as CanvasRenderingContext2D, line, PLOT, 1);
  expect(bars).toEqual([
    [19, 0, 2, 7],
    [21, 0, 2, 7],
    [59, 0, 2, 7],
    [21, 93, 2, 7],
  ]);
  expect(signs).toEqual([
    ['\u221e', 22, 0],
    ['\u221e', 62, 0],
    ['\u2212\u221e', 24, 100],
  ]);
});

/** Draws columns and returns the tops and bottoms of bars, and the ends of strokes. */
function drawn(columns: readonly Column[], width: number): { bars: number[][]; strokes: number[][] } {
  const [bars, strokes]: [number[][], number[][]] = [[], []];
  const ctx = {
    beginPath() {},
    stroke() {},
    rect() {},
    moveTo() {},
    lineTo: (x: number, y: number) => strokes.push([x, y]),
    fillRect: (_: number, y: number, __: number, height: number) => bars.push([y, y + height]),
  };
  drawLine(ctx as unknown as CanvasRenderingContext2D, lineOf(columns), PLOT, width, false);
  return { bars, strokes };
}

it('draws a slope as a stroke, because bars would touch at their corners only', () => {
  for (const width of [1, 2, 3]) {
    const rising = [0, 1, 2, 3].map((n) => [n * width, false, 10 * n + 1, 10 * n + 10] as const);
    expect(drawn(rising, width).strokes).toEqual([1, 2, 3].map((n) => [n * width, 100 - (10 * n + 10)]));
    const falling = [3, 2, 1, 0].map(
      (n) => [(3 - n) * width, false, 10 * n + 1, 10 * n + 10, 10 * n + 1] as const,
    );
    expect(drawn(falling, width).strokes).toEqual(
      [2, 1, 0].map((n) => [(3 - n) * width, 100 - (10 * n + 1)]),
    );
  }
});

it('lets neighboring bars share half as much of an edge as a line is wide, and not a corner only', () => {
  for (const width of [1, 2, 3]) {
    // The second begins at the end of the first, and ends in its own middle.
    const up = drawn(
      [
        [0, false, 0, 20, 20],
        [width, false, 20, 40, 30],
      ],
      width,
    ).bars;
    expect(up[1][1] - up[0][0]).toBe(width / 2);
    const down = drawn(
      [
        [0, false, 20, 40, 20],
        [width, false, 0, 20, 10],
      ],
      width,
    ).bars;
    expect(down[0][1] - down[1][0]).toBe(width / 2);
  }
});
