import { type ColumnBlock, Columns, trueExtremes } from './columns.ts';
import { counterRates } from './rates.ts';
import { finiteExtremes } from './value_scale.ts';

/** Values of elements over time: a cell for each element and column of pixels. NaN where nothing is known; may be infinite. */
export interface HeatGrid {
  /** Names of the elements, a row each. */
  readonly labels: readonly string[];
  readonly columns: number;
  readonly from: number;
  readonly to: number;
  /** Row by row. */
  readonly min: Float64Array;
  readonly max: Float64Array;
  readonly last: Float64Array;
}

/** A line of columns for each element. */
export interface HeatRow {
  readonly label: string;
  readonly block: ColumnBlock;
}

/**
 * Makes a grid. A value stays until the next one, as it does on a chart of steps, but not over missing samples; the last
 * one as long as the one before it. Of counters it has the rates per second.
 */
export function heatGrid(
  buffer: Float64Array,
  rows: readonly HeatRow[],
  [from, to]: readonly [number, number],
  columns: number,
  isCounter = false,
): HeatGrid {
  const cells = rows.length * columns;
  const empty = () => new Float64Array(cells).fill(Number.NaN);
  const grid = {
    labels: rows.map(({ label }) => label),
    columns,
    from,
    to,
    min: empty(),
    max: empty(),
    last: empty(),
  };
  rows.forEach(({ block }, row) => {
    const found = new Columns(buffer, block);
    fillRow(grid, row, found, isCounter ? counterRates(found, 0, to - from) : undefined);
  });
  return grid;
}

function fillRow(grid: HeatGrid, row: number, found: Columns, rates: Float64Array | undefined): void {
  const { columns, from, to } = grid;
  const place = (column: number) => Math.floor(((found.time(column) - from) / (to - from)) * columns);
  let width = 1;
  for (let index = 0; index < found.count; index++) {
    const start = place(index);
    const isLast = index === found.count - 1;
    if (!isLast && !found.isBroken(index + 1)) width = Math.max(1, place(index + 1) - start);
    // Before missing samples nothing is known but the column itself.
    const isOpen = !isLast && found.isBroken(index + 1);
    const end = Math.min(columns, start + (isOpen ? 1 : width));
    const [least, greatest] = trueExtremes(found.min(index, 0), found.max(index, 0), found.marks(index, 0));
    for (let column = Math.max(0, start); column < end; column++) {
      const at = row * columns + column;
      grid.min[at] = rates?.[index] ?? least;
      grid.max[at] = rates?.[index] ?? greatest;
      grid.last[at] = rates?.[index] ?? found.last(index, 0);
    }
  }
}

/** Returns how many cells are infinite. */
export function infiniteIn(values: Float64Array): number {
  return values.reduce((count, value) => count + (Math.abs(value) === Number.POSITIVE_INFINITY ? 1 : 0), 0);
}

/** Least and greatest of the finite values; not finite without any. */
export function extremesOf({ min, max }: HeatGrid): [number, number] {
  const [[low, lowEnd], [highEnd, high]] = [finiteExtremes(min), finiteExtremes(max)];
  // If one extreme of a cell is infinite, the other one may be finite.
  return [Math.min(low, highEnd), Math.max(high, lowEnd)];
}
