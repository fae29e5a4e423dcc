import type { Value } from '@oasis/wire';

/** One sample as a row of a list. */
export interface RecordRow {
  readonly sequence: number;
  /** Node clock, milliseconds. */
  readonly time: number;
  readonly values: readonly Value[];
}

/** Text for a value that a sample lacks. */
export const NONE = '\u2013';

const MAX_RECORDS = 2000;

/** The newest samples of an instance with all values, for event lists. The oldest are evicted. */
export class Records {
  private rows: RecordRow[] = [];

  add(first: number, times: Float64Array, metrics: readonly ArrayLike<Value>[]): void {
    for (let index = Math.max(0, times.length - MAX_RECORDS); index < times.length; index++) {
      const values = metrics.map((column) => column[index] ?? NONE);
      this.rows.push({ sequence: first + index, time: times[index], values });
    }
    if (this.rows.length > 2 * MAX_RECORDS) this.rows = this.rows.slice(-MAX_RECORDS);
  }

  /** Time of the oldest sample in memory. */
  get oldest(): number | undefined {
    return this.rows[0]?.time;
  }

  /** Returns the samples of a time span, newest first. */
  between(from: number, to: number, limit = Number.POSITIVE_INFINITY): RecordRow[] {
    const found: RecordRow[] = [];
    for (let index = this.rows.length - 1; index >= 0 && found.length < limit; index--) {
      const row = this.rows[index];
      if (row.time <= to && row.time >= from) found.push(row);
    }
    return found;
  }
}
