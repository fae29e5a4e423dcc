import type { GapMark } from '../series/causes.ts';
import { isSilence, type Pace, type Recent, recentBefore } from '../series/pace.ts';
import { isFields, listOf } from '../wire/fields.ts';

/** The DAC's answer for a long range as points (docs/reference/text-doors.md), as rows for charts. */

/** Rows in the format of the store's tiers: minimum, maximum and last value of each step of time. */
export interface Rows {
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** 1 if samples are missing, or none were taken, before the row. */
  readonly breaks: Uint8Array;
  readonly min: readonly Float64Array[];
  readonly max: readonly Float64Array[];
  readonly last: readonly Float64Array[];
}

/** Points of one instance. Times are milliseconds by the node's clock. */
export interface Points {
  /** Source of the points: `raw` samples, or the length of the roll-ups. */
  readonly level: string;
  readonly from: number;
  readonly to: number;
  /** Time of a sample that the DAC had when the points were requested; the points are complete up to it. */
  readonly until: number;
  /** Length of a step. */
  readonly step: number;
  readonly rows: Rows;
  /** Number of samples in each step. */
  readonly counts: Float64Array;
  /** The last text of each step, by metric. */
  readonly texts: ReadonlyMap<string, readonly (string | null)[]>;
  /** Index of each metric in the rows, by name. */
  readonly places: ReadonlyMap<string, number>;
  readonly gaps: readonly GapMark[];
}

/** Empty steps between two rows, beyond which the probe was silent. */
const EMPTY_STEPS = 2.5;
/** Intervals on each side to compare with if the rate is unknown. */
const NEIGHBORS = 4;

/** Parses an answer; undefined if it contains no points. `until`: see {@link Points}. */
export function parsePoints(
  message: unknown,
  pace: Pace,
  until = Number.NEGATIVE_INFINITY,
): Points | undefined {
  if (!isFields(message) || message.event !== 'points' || !isFields(message.metrics)) return undefined;
  const end = column(message.times).map((time) => time / 1e6);
  const step = Number(message.step) / 1e6;
  const places = new Map<string, number>();
  const rows = {
    start: end,
    end,
    breaks: new Uint8Array(end.length),
    min: [] as Float64Array[],
    max: [] as Float64Array[],
    last: [] as Float64Array[],
  };
  const texts = new Map<string, (string | null)[]>();
  for (const [name, of] of Object.entries(message.metrics)) {
    if (!isFields(of)) continue;
    if (!Array.isArray(of.min)) {
      texts.set(name, textsOf(of.last));
      continue;
    }
    places.set(name, rows.min.length);
    rows.min.push(column(of.min, Number.POSITIVE_INFINITY));
    rows.max.push(column(of.max, Number.NEGATIVE_INFINITY));
    rows.last.push(column(of.last));
  }
  const reported = listOf(message.gaps).map(
    (gap): GapMark => ({
      from: Number(gap.from) / 1e6,
      to: Number(gap.to) / 1e6,
      count: Number(gap.samples),
      cause: String(gap.cause),
    }),
  );
  const gaps = [...reported, ...silences(end, step, pace, reported)].sort((a, b) => a.from - b.from);
  breakAt(rows, gaps);
  return {
    level: String(message.level),
    from: Number(message.from) / 1e6,
    to: Number(message.to) / 1e6,
    until,
    step,
    rows,
    counts: column(message.samples, 0),
    texts,
    places,
    gaps,
  };
}

/** Finds the spans in which a periodic probe took no samples. */
function silences(times: Float64Array, step: number, pace: Pace, reported: readonly GapMark[]): GapMark[] {
  const found: GapMark[] = [];
  for (let row = 1; row < times.length; row++) {
    const [from, to] = [times[row - 1], times[row]];
    if (
      to - from <= EMPTY_STEPS * step ||
      !isSilence(to - from, pace, () => recentAt(times, row, pace)) ||
      reported.some((gap) => gap.from < to && gap.to > from)
    )
      continue;
    found.push({ from, to, count: 0, cause: 'silent' });
  }
  return found;
}

/** Returns what the interval before a row is compared with: for an unknown rate, the intervals on both sides, its own included. */
function recentAt(times: Float64Array, row: number, pace: Pace): Recent {
  if (pace === 'steady') return recentBefore(times, row);
  const from = Math.max(1, row - NEIGHBORS);
  const to = Math.min(times.length - 1, row + NEIGHBORS);
  const intervals = Array.from({ length: to - from + 1 }, (_, index) => {
    return times[from + index] - times[from + index - 1];
  });
  return { intervals, busyFor: 0 };
}

/** Marks the first row after each gap, so that no line leads to it. */
function breakAt({ end, breaks }: Rows, gaps: readonly GapMark[]): void {
  let row = 0;
  for (const { to } of gaps) {
    while (row < end.length && end[row] < to) row++;
    if (row < end.length) breaks[row] = 1;
  }
}

function textsOf(values: unknown): (string | null)[] {
  return (Array.isArray(values) ? values : []).map((value) => (typeof value === 'string' ? value : null));
}

/** Converts a column to numbers; `otherwise` replaces `null` and `"NaN"`. */
function column(values: unknown, otherwise = Number.NaN): Float64Array {
  return Float64Array.from(Array.isArray(values) ? values : [], (value) => {
    const number = value === null ? Number.NaN : Number(value);
    return Number.isNaN(number) ? otherwise : number;
  });
}
