import { expect, it } from 'vitest';
import { Mark } from './columns.ts';
import { extremesOf, heatGrid } from './heat_grid.ts';

/** Rows of columns: time, break, minimum, maximum, last, marks if there are any. */
function grid(...rows: number[][][]) {
  const buffer = Float64Array.from(
    rows.flat().flatMap((column) => (column.length < 6 ? [...column, 0] : column)),
  );
  let offset = 0;
  const blocks = rows.map((row, index) => {
    const block = { offset, count: row.length, series: 1 };
    offset += row.length * 6;
    return { label: String(index), block };
  });
  return heatGrid(buffer, blocks, [0, 10], 10);
}

it('has a cell for each element and column, with minimum and maximum', () => {
  const found = grid([
    [0, 0, 1, 3, 2],
    [1, 0, 2, 2, 2],
  ]);
  expect([...found.min.slice(0, 3)]).toEqual([1, 2, Number.NaN]);
  expect([...found.max.slice(0, 3)]).toEqual([3, 2, Number.NaN]);
  expect([...found.last.slice(0, 3)]).toEqual([2, 2, Number.NaN]);
  expect(extremesOf(found)).toEqual([1, 3]);
});

it('holds a value until the next one, but not over missing samples', () => {
  const found = grid([
    [0, 0, 1, 1, 1],
    [3, 0, 2, 2, 2],
    [6, 1, 3, 3, 3],
  ]);
  const { NaN: no } = Number;
  expect([...found.max]).toEqual([1, 1, 1, 2, no, no, 3, 3, 3, no]);
});

it('begins with what came before the time shown, and ends with it', () => {
  const found = grid(
    [
      [-2, 0, 1, 1, 1],
      [1, 0, 2, 2, 2],
      [9.5, 0, 3, 3, 3],
    ],
    [],
  );
  expect([...found.last.slice(0, 10)]).toEqual([1, 2, 2, 2, 2, 2, 2, 2, 2, 3]);
  expect([...found.last.slice(10)].every(Number.isNaN)).toBe(true);
  expect(found.labels).toEqual(['0', '1']);
});

it('has the rates of counters', () => {
  const block = { offset: 0, count: 3, series: 1 };
  const buffer = Float64Array.from([0, 0, 5, 5, 5, 0, 1000, 0, 9, 9, 9, 0, 2000, 1, 9, 9, 9, 0]);
  const found = heatGrid(buffer, [{ label: 'a', block }], [0, 4000], 4, true);
  expect([...found.max]).toEqual([Number.NaN, 4, Number.NaN, Number.NaN]);
});

it('keeps infinite and very large values, and has a scale without them', () => {
  const { POSITIVE_INFINITY, NEGATIVE_INFINITY } = Number;
  const found = grid([
    [0, 0, 1e15, 1e15 + 1, 1e15 + 1],
    [1, 0, 1e-97, 1e-97, NEGATIVE_INFINITY, Mark.below],
    [2, 0, POSITIVE_INFINITY, NEGATIVE_INFINITY, POSITIVE_INFINITY, Mark.above],
  ]);
  expect([...found.min.slice(0, 3)]).toEqual([1e15, NEGATIVE_INFINITY, POSITIVE_INFINITY]);
  expect([...found.max.slice(0, 3)]).toEqual([1e15 + 1, 1e-97, POSITIVE_INFINITY]);
  expect([...found.last.slice(0, 3)]).toEqual([1e15 + 1, NEGATIVE_INFINITY, POSITIVE_INFINITY]);
  expect(extremesOf(found)).toEqual([1e-97, 1e15 + 1]);
});
