import { type ColumnBlock, Columns } from './columns.ts';
import { counterRates } from './rates.ts';

/** Values of elements over time: a cell for each element and column of pixels. NaN where nothing is known. */
export interface HeatGrid {
  /** Names of the elements, a row each. */
  readonly labels: readonly string[];
  readonly columns: number;
  readonly from: number;
  readonly to: number;
  /** Row by row. */
  readonly min: Float32Array;
  readonly max: Float32Array;
  readonly last: Float32Array;
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
  const empty = () => new Float32Array(cells).fill(Number.NaN);
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
    for (let column = Math.max(0, start); column < end; column++) {
      const at = row * columns + column;
      grid.min[at] = rates?.[index] ?? found.min(index, 0);
      grid.max[at] = rates?.[index] ?? found.max(index, 0);
      grid.last[at] = rates?.[index] ?? found.last(index, 0);
    }
  }
}

/** Least and greatest of the known values; not finite without any. */
export function extremesOf({ min, max }: HeatGrid): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  // Comparisons with NaN are false.
  for (const value of min) if (value < low && value !== Number.NEGATIVE_INFINITY) low = value;
  for (const value of max) if (value > high && value !== Number.POSITIVE_INFINITY) high = value;
  return [low, high];
}
