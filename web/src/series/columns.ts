/** Rows of numbers: start and end time, and the minimum, maximum and last value of each series. */
export interface RowTable {
  readonly start: ArrayLike<number>;
  readonly end: ArrayLike<number>;
  /** 1 if samples are missing, or were interrupted, before the row. */
  readonly breaks: ArrayLike<number>;
  readonly min: readonly ArrayLike<number>[];
  readonly max: readonly ArrayLike<number>[];
  readonly last: readonly ArrayLike<number>[];
  /** {@link Mark}s of folded samples, by series; absent for single samples and where there are none. */
  readonly marks?: readonly (ArrayLike<number> | undefined)[];
}

/** What samples of a series are besides finite numbers: bits of a sum. */
export const Mark = {
  /** Some are infinite. */
  above: 1,
  below: 2,
  /** Some before the last one are NaN: no line leads through them. */
  broken: 4,
  /** The last one is NaN: no line leads on. */
  ended: 8,
} as const;

/** Calls back with the rows of a time span, oldest first, one beyond each end; about `rows` of them at most. */
export interface RowSource {
  visit(from: number, to: number, rows: number, each: (table: RowTable, row: number) => void): void;
}

/**
 * Part of a buffer. For each column of pixels with samples, from left to right: the time of the last sample, whether
 * samples are missing before it, and of each series the minimum and maximum of its finite values, the last value, and its
 * {@link Mark}s. Without a finite value the minimum is above the maximum.
 */
export interface ColumnBlock {
  /** Index of the first value in the buffer. */
  readonly offset: number;
  readonly count: number;
  readonly series: number;
}

/** Numbers of a series in a column. */
const FIGURES = 4;

/** Numbers per column: time, break, and those of each series. */
function stride(series: number): number {
  return 2 + FIGURES * series;
}

/** Numbers that a block can need, with columns of pixels beyond each end. */
export function blockRoom(columns: number, series: number): number {
  return (columns + 4) * stride(series);
}

/** Rows to read for each column at most; beyond that, a coarser tier is used. Fewer suffice for many narrow columns. */
const ROWS_PER_COLUMN = 40;
const LEAST_PER_COLUMN = 8;
const ROWS = 24_576;

export interface Span {
  readonly from: number;
  readonly to: number;
  readonly columns: number;
}

/**
 * Reduces the samples of a span to one row for each column of pixels. Columns start at multiples of their width, so that
 * they do not flicker as time moves on. `shift` is added to the times (browser clock minus node clock).
 */
export function reduceColumns(
  store: RowSource,
  picked: readonly number[],
  span: Span,
  shift: number,
  into: Float64Array,
  offset: number,
): ColumnBlock {
  const width = (span.to - span.from) / span.columns;
  const room = span.columns + 4;
  const block = new BlockWriter(into, offset, room, picked.length);
  let current = Number.NaN;
  store.visit(span.from - shift, span.to - shift, rowsFor(span.columns), (tier, slot) => {
    const time = tier.end[slot] + shift;
    // Samples after the span share no column with it: the last one in it ends with the value at its end.
    const column = time > span.to ? Number.POSITIVE_INFINITY : Math.floor(time / width);
    const isBroken = tier.breaks[slot] === 1;
    if (column !== current) {
      // Only the last column to the left of the span is needed, for the line that leads into the span.
      if (time < span.from) block.rewind();
      if (!block.next()) return;
      current = column;
    }
    block.time(time);
    if (isBroken) block.break();
    for (let index = 0; index < picked.length; index++) {
      const series = picked[index];
      const marks = tier.marks?.[series]?.[slot] ?? 0;
      block.add(index, tier.min[series][slot], tier.max[series][slot], tier.last[series][slot], marks);
    }
  });
  return { offset, count: block.count, series: picked.length };
}

function rowsFor(columns: number): number {
  return Math.max(LEAST_PER_COLUMN * columns, Math.min(ROWS_PER_COLUMN * columns, ROWS));
}

class BlockWriter {
  count = 0;
  private at: number;

  constructor(
    private readonly into: Float64Array,
    private readonly offset: number,
    private readonly room: number,
    private readonly series: number,
  ) {
    this.at = offset - stride(series);
  }

  /** Starts a column; false if there is no room. */
  next(): boolean {
    if (this.count === this.room) return false;
    this.count++;
    this.at = this.offset + (this.count - 1) * stride(this.series);
    this.into[this.at + 1] = 0;
    for (let index = 0; index < this.series; index++) {
      const place = this.at + 2 + FIGURES * index;
      this.into[place] = Number.POSITIVE_INFINITY;
      this.into[place + 1] = Number.NEGATIVE_INFINITY;
      this.into[place + 2] = Number.NaN;
      this.into[place + 3] = 0;
    }
    return true;
  }

  rewind(): void {
    this.count = 0;
  }

  time(time: number): void {
    this.into[this.at] = time;
  }

  /** Marks a gap that is narrower than a column; it is drawn at the left of the column. */
  break(): void {
    this.into[this.at + 1] = 1;
  }

  add(index: number, min: number, max: number, last: number, marks: number): void {
    const { into } = this;
    const place = this.at + 2 + FIGURES * index;
    const found = marks | infinitiesOf(min, max);
    if (found & INFINITE) this.widen(place, [min, max, last]);
    else {
      if (min < into[place]) into[place] = min;
      if (max > into[place + 1]) into[place + 1] = max;
    }
    const isKnown = !Number.isNaN(last);
    if (isKnown) into[place + 2] = last;
    if (found !== 0 || !isKnown || into[place + 3] !== 0)
      into[place + 3] = joinMarks(into[place + 3], found, isKnown);
  }

  /** Widens the extremes of a series by those that are finite. */
  private widen(place: number, values: readonly number[]): void {
    const { into } = this;
    for (const value of values) {
      if (!Number.isFinite(value)) continue;
      if (value < into[place]) into[place] = value;
      if (value > into[place + 1]) into[place + 1] = value;
    }
  }
}

const INFINITE = Mark.above | Mark.below;

/** Returns the marks of extremes that may be infinite. Without a value the minimum is above the maximum: that is no mark. */
export function infinitiesOf(min: number, max: number): number {
  return (
    (max === Number.POSITIVE_INFINITY ? Mark.above : 0) | (min === Number.NEGATIVE_INFINITY ? Mark.below : 0)
  );
}

/** Returns the least value of a series in a row, also an infinite one; NaN or above the greatest without any. */
export function leastIn(table: RowTable, series: number, row: number): number {
  const isBelow = (table.marks?.[series]?.[row] ?? 0) & Mark.below;
  return isBelow ? Number.NEGATIVE_INFINITY : table.min[series][row];
}

/** Returns the greatest value of a series in a row, also an infinite one; NaN or below the least without any. */
export function greatestIn(table: RowTable, series: number, row: number): number {
  const isAbove = (table.marks?.[series]?.[row] ?? 0) & Mark.above;
  return isAbove ? Number.POSITIVE_INFINITY : table.max[series][row];
}

/** Joins the marks of samples with those of later ones, which have a last value or none. */
export function joinMarks(before: number, later: number, isKnown: boolean): number {
  if (!isKnown) return before | later | Mark.ended;
  // An unknown value at the end is now one before a value.
  const broken = before & Mark.ended ? Mark.broken : 0;
  return (before & ~Mark.ended) | broken | later;
}

/** Reads a block. It has accessors instead of objects because a frame has thousands of columns. */
export class Columns {
  private readonly stride: number;

  constructor(
    private readonly buffer: Float64Array,
    private readonly block: ColumnBlock,
  ) {
    this.stride = stride(block.series);
  }

  get count(): number {
    return this.block.count;
  }

  time(column: number): number {
    return this.buffer[this.block.offset + column * this.stride];
  }

  isBroken(column: number): boolean {
    return this.buffer[this.block.offset + column * this.stride + 1] === 1;
  }

  /** Returns the least finite value. */
  min(column: number, series: number): number {
    return this.buffer[this.placeOf(column, series)];
  }

  /** Returns the greatest finite value. */
  max(column: number, series: number): number {
    return this.buffer[this.placeOf(column, series) + 1];
  }

  /** Returns the last value, which may be infinite. */
  last(column: number, series: number): number {
    return this.buffer[this.placeOf(column, series) + 2];
  }

  /** Returns the {@link Mark}s. */
  marks(column: number, series: number): number {
    return this.buffer[this.placeOf(column, series) + 3];
  }

  /** Returns the last column that is not after a time; -1 before the first. */
  at(time: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.time(middle) <= time) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  private placeOf(column: number, series: number): number {
    return this.block.offset + column * this.stride + 2 + FIGURES * series;
  }
}

/** Returns the extremes of all values, also of infinite ones; both are NaN if all values are. */
export function trueExtremes(low: number, high: number, marks: number): [number, number] {
  const isKnown = low <= high;
  const [above, below] = [(marks & Mark.above) !== 0, (marks & Mark.below) !== 0];
  const least = isKnown ? low : above ? Number.POSITIVE_INFINITY : Number.NaN;
  const greatest = isKnown ? high : below ? Number.NEGATIVE_INFINITY : Number.NaN;
  return [below ? Number.NEGATIVE_INFINITY : least, above ? Number.POSITIVE_INFINITY : greatest];
}
