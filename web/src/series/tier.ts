/** Rows of one tier that make one row of the next. */
export const FOLD = 16;

const FIRST_CAPACITY = 64;
/** Maximum growth factor of the capacity in one step. */
const MAX_GROWTH = 64;

/**
 * A ring of rows that overwrites the oldest: start and end time, and the minimum, maximum and last value of each series.
 * Folded rows have the extremes of their finite values, and marks of the others.
 *
 * Rows have absolute indices that never repeat; a row is in the ring while its index is in `[first, next)`. The lowest
 * tier has samples, for which minimum, maximum and last value share one array.
 */
export class Tier {
  capacity = FIRST_CAPACITY;
  next = 0;
  first = 0;
  start: Float64Array;
  end: Float64Array;
  /** 1 if samples are missing, or were interrupted, before the row. */
  breaks: Uint8Array;
  /** Samples of each row; empty in the lowest tier, whose rows have one each. */
  private counts: Uint32Array;
  readonly min: Float64Array[];
  readonly max: Float64Array[];
  readonly last: Float64Array[];
  /** Marks of folded rows; absent for a series that never had any. */
  readonly marks: (Uint8Array | undefined)[];

  constructor(
    readonly series: number,
    readonly isRaw: boolean,
    /** Maximum number of rows. */
    readonly limit: number,
  ) {
    this.start = new Float64Array(this.capacity);
    this.end = isRaw ? this.start : new Float64Array(this.capacity);
    this.breaks = new Uint8Array(this.capacity);
    this.counts = new Uint32Array(isRaw ? 0 : this.capacity);
    this.last = Array.from({ length: series }, () => new Float64Array(this.capacity));
    this.min = isRaw ? this.last : Array.from({ length: series }, () => new Float64Array(this.capacity));
    this.max = isRaw ? this.last : Array.from({ length: series }, () => new Float64Array(this.capacity));
    this.marks = new Array(series).fill(undefined);
  }

  get size(): number {
    return this.next - this.first;
  }

  slot(index: number): number {
    // Capacities are powers of two, but indices exceed the 32 bits of an `&`.
    return index % this.capacity;
  }

  /** Returns the number of samples of a row. */
  count(slot: number): number {
    return this.isRaw ? 1 : this.counts[slot];
  }

  setCount(slot: number, count: number): void {
    this.counts[slot] = count;
  }

  /** Writes the marks of a series in a row. Few series need the memory. */
  mark(series: number, slot: number, marks: number): void {
    if (marks === 0 && !this.marks[series]) return;
    this.marks[series] ??= new Uint8Array(this.capacity);
    this.marks[series][slot] = marks;
  }

  /**
   * Makes room for rows up to the time `newest`. It allocates memory only if it would overwrite rows that must be kept: those of
   * the last `keepMs`, and the last `unfolded` ones.
   */
  reserve(rows: number, newest: number, keepMs: number, unfolded = 0): void {
    while (
      this.size + rows > this.capacity &&
      this.capacity < this.limit &&
      (rows + unfolded > this.capacity || this.end[this.slot(this.first)] >= newest - keepMs)
    ) {
      this.grow(this.capacityFor(this.size + rows, newest, keepMs));
    }
  }

  /**
   * Returns the capacity for the time to keep, at the present rate. It is allocated at once, so that memory does not grow
   * for hours; the growth is limited, because a burst says little about the rate.
   */
  private capacityFor(rows: number, newest: number, keepMs: number): number {
    const span = newest - this.start[this.slot(this.first)];
    const wanted = span > 0 ? Math.min(this.limit, (rows * keepMs) / span) : 0;
    const most = this.capacity * MAX_GROWTH;
    let capacity = this.capacity * 2;
    while (capacity < wanted && capacity < most) capacity *= 2;
    return Math.min(capacity, this.limit);
  }

  /** Returns the slot of the next row to fill; overwrites the oldest one if the ring is full. */
  claim(): number {
    const slot = this.slot(this.next);
    this.next++;
    if (this.size > this.capacity) this.first = this.next - this.capacity;
    return slot;
  }

  /** Index of the first row that ends at `time` or later. */
  lowerBound(time: number): number {
    let low = this.first;
    let high = this.next;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.end[this.slot(middle)] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Allocated bytes. */
  get bytes(): number {
    const marked = this.marks.reduce((count, marks) => count + (marks ? 1 : 0), 0);
    return (
      this.capacity * ((this.isRaw ? 8 * (1 + this.series) + 1 : 8 * (2 + 3 * this.series) + 5) + marked)
    );
  }

  private grow(capacity: number): void {
    const before = this.capacity;
    const order = Array.from({ length: this.size }, (_, row) => (this.first + row) % before);
    this.capacity = capacity;
    const moved = <T extends Float64Array | Uint32Array | Uint8Array>(old: T, fresh: T): T => {
      for (let row = 0; row < order.length; row++) {
        fresh[(this.first + row) % this.capacity] = old[order[row]];
      }
      return fresh;
    };
    this.start = moved(this.start, new Float64Array(this.capacity));
    this.end = this.isRaw ? this.start : moved(this.end, new Float64Array(this.capacity));
    this.breaks = moved(this.breaks, new Uint8Array(this.capacity));
    if (!this.isRaw) this.counts = moved(this.counts, new Uint32Array(this.capacity));
    for (let series = 0; series < this.series; series++) {
      this.last[series] = moved(this.last[series], new Float64Array(this.capacity));
      if (this.isRaw) continue;
      this.min[series] = moved(this.min[series], new Float64Array(this.capacity));
      this.max[series] = moved(this.max[series], new Float64Array(this.capacity));
      const marks = this.marks[series];
      if (marks) this.marks[series] = moved(marks, new Uint8Array(this.capacity));
    }
  }
}
