import { expect, it } from 'vitest';
import { blockRoom, Mark, reduceColumns } from '../series/columns.ts';
import { SeriesStore } from '../series/store.ts';
import type { ViewResult } from '../stream/query.ts';
import { extremesIn, type LineStyle, linesOf, stacked } from './line.ts';

const { POSITIVE_INFINITY, NEGATIVE_INFINITY, MAX_VALUE } = Number;
const STYLE: LineStyle = { label: '', unit: undefined, isCounter: false, isStep: false, color: 0 };

/** Returns the lines of series that have a sample each second, as the worker reduces them: one sample a column. */
function drawn(series: readonly (readonly number[])[], more: Partial<LineStyle> = {}) {
  const count = series[0].length;
  const store = new SeriesStore(series.length, 3_600_000);
  store.append(
    Float64Array.from({ length: count }, (_, index) => index * 1000),
    series.map((values) => Float64Array.from(values)),
  );
  const [from, to] = [-500, count * 1000 - 500];
  const buffer = new Float64Array(blockRoom(count, series.length));
  const picked = [...series.keys()];
  const block = reduceColumns(store, picked, { from, to, columns: count }, 0, buffer, 0);
  const blocks = [{ ...block, key: '', gaps: [] }];
  const result = { from, to, answer: { kind: 'columns', buffer, blocks } } as unknown as ViewResult;
  return linesOf(
    result,
    series.map(() => ({ ...STYLE, ...more })),
  );
}

it('has the finite extremes of a line, and marks of the other values', () => {
  const [line] = drawn([[1, POSITIVE_INFINITY, 2, NEGATIVE_INFINITY, Number.NaN, 3]]);
  const columns = [...Array(line.columns.count).keys()];
  expect(columns.map((column) => line.low(column) <= line.high(column))).toEqual([
    true,
    false,
    true,
    false,
    false,
    true,
  ]);
  expect(columns.map(line.marks)).toEqual([0, Mark.above, 0, Mark.below, Mark.ended, 0]);
  expect(columns.map((column) => extremesIn(line, column)[1])).toEqual([
    1,
    POSITIVE_INFINITY,
    2,
    NEGATIVE_INFINITY,
    Number.NaN,
    3,
  ]);
});

it('keeps values finite in a unit that is too small for them', () => {
  const [line] = drawn([[1e308, -1e308, POSITIVE_INFINITY]], { conversion: { factor: 1000, offset: 0 } });
  expect([line.high(0), line.low(1), line.last(2)]).toEqual([MAX_VALUE, -MAX_VALUE, POSITIVE_INFINITY]);
  expect([line.marks(0), line.marks(2)]).toEqual([0, Mark.above]);
});

it('has no rate of a counter that was infinite', () => {
  const [line] = drawn([[0, 10, POSITIVE_INFINITY, 30, 40]], { isCounter: true });
  const rates = [...Array(line.columns.count).keys()].map((column) => line.last(column));
  expect(rates.some((rate) => Math.abs(rate) === POSITIVE_INFINITY)).toBe(false);
  expect(rates[1]).toBe(10);
  expect(rates[4]).toBe(10);
});

it('stacks shares of the largest and the smallest numbers', () => {
  for (const unit of [1, MAX_VALUE, 5e-324]) {
    const lines = stacked(drawn([[unit], [unit]]), () => true);
    expect(lines.map((line) => [line.low(0), line.high(0), line.last(0)])).toEqual([
      [0, 50, 50],
      [50, 100, 50],
    ]);
  }
  const [infinite] = stacked(drawn([[POSITIVE_INFINITY], [1]]), () => true);
  expect(infinite.last(0)).toBeNaN();
});
