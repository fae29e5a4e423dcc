import { isFields, listOf } from '../fields.ts';
import { isSilence, type Pace } from '../stream/pace.ts';
import type { GapMark } from '../stream/query.ts';

/** The DAC's answer for a long time in a number of points (docs/reference/text-doors.md), as rows for charts. */

/** Rows in the format of the store's tiers: minimum, maximum and last value of each step of time. */
export interface Rows {
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** 1 where something is missing, or nothing was sampled, before the row. */
  readonly breaks: Uint8Array;
  readonly min: readonly Float64Array[];
  readonly max: readonly Float64Array[];
  readonly last: readonly Float64Array[];
}

/** All times are milliseconds by the node's clock. */
export interface Points {
  /** What they were made from: `raw` samples, or roll-ups. */
  readonly level: string;
  readonly from: number;
  readonly to: number;
  /** Time of a sample that was there when they were asked for: none up to then is lacking. */
  readonly until: number;
  /** Length of a stretch. */
  readonly step: number;
  readonly rows: Rows;
  /** Samples of each stretch. */
  readonly counts: Float64Array;
  /** By name, the last text of each stretch. */
  readonly texts: ReadonlyMap<string, readonly (string | null)[]>;
  /** By name, the place of a metric in the rows. */
  readonly places: ReadonlyMap<string, number>;
  readonly gaps: readonly GapMark[];
}

/** Stretches without samples between two that have some, beyond which nothing was sampled. */
const EMPTY_STRETCHES = 2.5;
/** Intervals on each side that one is held against where nobody knows the rate. */
const NEIGHBOURS = 4;

/** Nothing for what are no points. `until` is that of {@link Points}. */
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
  const told = listOf(message.gaps).map(
    (gap): GapMark => ({
      from: Number(gap.from) / 1e6,
      to: Number(gap.to) / 1e6,
      count: Number(gap.samples),
      cause: String(gap.cause),
    }),
  );
  const gaps = [...told, ...silences(end, step, pace, told)].sort((a, b) => a.from - b.from);
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
function silences(times: Float64Array, step: number, pace: Pace, told: readonly GapMark[]): GapMark[] {
  const found: GapMark[] = [];
  for (let row = 1; row < times.length; row++) {
    const [from, to] = [times[row - 1], times[row]];
    if (
      to - from <= EMPTY_STRETCHES * step ||
      !isSilence(to - from, pace, () => intervalsAround(times, row)) ||
      told.some((gap) => gap.from < to && gap.to > from)
    )
      continue;
    found.push({ from, to, count: 0, cause: 'silent' });
  }
  return found;
}

/** Milliseconds that rows around one are apart, the one itself included. */
function intervalsAround(times: Float64Array, row: number): readonly number[] {
  const from = Math.max(1, row - NEIGHBOURS);
  const to = Math.min(times.length - 1, row + NEIGHBOURS);
  return Array.from({ length: to - from + 1 }, (_, index) => times[from + index] - times[from + index - 1]);
}

/** No line is drawn into the first row after a gap. */
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

/** What is no number (`null`, `"NaN"`) is `otherwise`. */
function column(values: unknown, otherwise = Number.NaN): Float64Array {
  return Float64Array.from(Array.isArray(values) ? values : [], (value) => {
    const number = value === null ? Number.NaN : Number(value);
    return Number.isNaN(number) ? otherwise : number;
  });
}
