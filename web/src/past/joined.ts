import type { RowSource, RowTable } from '../series/columns.ts';
import type { SeriesStore } from '../series/store.ts';
import type { Points } from './points.ts';

/** Samples in memory: series of a store, and the time of the oldest sample. */
export interface Remembered {
  readonly store: SeriesStore;
  readonly picked: readonly number[];
  /** Milliseconds by the node's clock. */
  readonly oldest: number;
}

/**
 * Joins the rows of the archive and, after them, those in memory to one row source, with the series in the order of the
 * names.
 */
export function joined(points: Points, names: readonly string[], remembered?: Remembered): RowSource {
  const past = pick(points, names);
  const seam = remembered?.oldest ?? Number.POSITIVE_INFINITY;
  return {
    visit(from, to, most, each) {
      const { end } = past;
      // One row beyond each end, for the lines that lead there.
      for (let row = Math.max(0, lowerBound(end, from) - 1); row < end.length && end[row] < seam; row++) {
        each(past, row);
        if (end[row] > to) return;
      }
      if (!remembered || to < seam) return;
      const { store, picked } = remembered;
      const chosen = new Map<RowTable, RowTable>();
      let isFirst = isMissing(points, end[lowerBound(end, seam) - 1], seam);
      store.visit(Math.max(from, seam), to, most, (tier, slot) => {
        let table = chosen.get(tier);
        if (!table) {
          const of = <T>(columns: readonly T[]) => picked.map((series) => columns[series]);
          const { min, max, last, marks } = tier;
          table = { ...only(tier), min: of(min), max: of(max), last: of(last), marks: of(marks) };
          chosen.set(tier, table);
        }
        each(isFirst ? broken(table, slot) : table, slot);
        isFirst = false;
      });
    },
  };
}

/** Whether samples are missing between the last row of the archive and the seam, where memory takes over. */
export function isMissing({ gaps }: Points, last: number | undefined, seam: number): boolean {
  return last !== undefined && gaps.some((gap) => gap.from < seam && gap.to > last);
}

/** Returns the table with a break before a row, so that no line leads to it. */
function broken(table: RowTable, row: number): RowTable {
  return { ...table, breaks: { length: row + 1, [row]: 1 } };
}

function only({ start, end, breaks }: RowTable) {
  return { start, end, breaks };
}

/** Selects columns by name. A metric that the archived type did not have is empty. */
function pick({ rows, places }: Points, names: readonly string[]) {
  const none = (value: number) => new Float64Array(rows.end.length).fill(value);
  const of = (columns: readonly Float64Array[], otherwise: number) =>
    names.map((name) => columns[places.get(name) ?? -1] ?? none(otherwise));
  return {
    ...rows,
    min: of(rows.min, Number.POSITIVE_INFINITY),
    max: of(rows.max, Number.NEGATIVE_INFINITY),
    last: of(rows.last, Number.NaN),
  };
}

function lowerBound(times: Float64Array, time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
