/** Rows of numbers: start and end time, and the minimum, maximum and last value of each series. */
export interface RowTable {
  readonly start: ArrayLike<number>;
  readonly end: ArrayLike<number>;
  /** 1 if samples are missing, or were interrupted, before the row. */
  readonly breaks: ArrayLike<number>;
  readonly min: readonly ArrayLike<number>[];
  readonly max: readonly ArrayLike<number>[];
  readonly last: readonly ArrayLike<number>[];
}

/** Calls back with the rows of a time span, oldest first, one beyond each end; about `rows` of them at most. */
export interface RowSource {
  visit(from: number, to: number, rows: number, each: (table: RowTable, row: number) => void): void;
}

/**
 * Part of a buffer. For each column of pixels with samples, from left to right: the time of the last sample, whether
 * samples are missing before it, and the minimum, maximum and last value of each series.
 */
export interface ColumnBlock {
  /** Index of the first value in the buffer. */
  readonly offset: number;
  readonly count: number;
  readonly series: number;
}

/** Numbers per column: time, break, and three for each series. */
function stride(series: number): number {
  return 2 + 3 * series;
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
    // What comes after the span shares no column with it: the last one in it ends with the value at its end.
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
      block.add(index, tier.min[series][slot], tier.max[series][slot], tier.last[series][slot]);
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
      const place = this.at + 2 + 3 * index;
      this.into[place] = Number.POSITIVE_INFINITY;
      this.into[place + 1] = Number.NEGATIVE_INFINITY;
      this.into[place + 2] = Number.NaN;
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

  add(index: number, min: number, max: number, last: number): void {
    const { into } = this;
    const place = this.at + 2 + 3 * index;
    if (min < into[place]) into[place] = min;
    if (max > into[place + 1]) into[place + 1] = max;
    if (!Number.isNaN(last)) into[place + 2] = last;
  }
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

  min(column: number, series: number): number {
    return this.buffer[this.block.offset + column * this.stride + 2 + 3 * series];
  }

  max(column: number, series: number): number {
    return this.buffer[this.block.offset + column * this.stride + 3 + 3 * series];
  }

  last(column: number, series: number): number {
    return this.buffer[this.block.offset + column * this.stride + 4 + 3 * series];
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
}
