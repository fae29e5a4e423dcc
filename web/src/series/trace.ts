/** Points of one value over another, oldest first. */
export interface Trace {
  readonly times: Float64Array;
  readonly xs: Float64Array;
  readonly ys: Float64Array;
  /** 1 if no line leads to the point. */
  readonly breaks: Uint8Array;
}

/** Points that are drawn at most. */
const MOST = 8192;
/** Points closer than this share of the extent are one. */
const CLOSE = 1 / 2000;

/** Leaves out what is unknown, and points so close to the one before that nobody could see them apart. */
export function thin({ times, xs, ys, breaks }: Trace): Trace {
  const [width, height] = [extent(xs), extent(ys)];
  const kept: number[] = [];
  const starts: boolean[] = [];
  let isBroken = true;
  for (let index = 0; index < times.length; index++) {
    isBroken ||= breaks[index] === 1;
    if (Number.isNaN(xs[index]) || Number.isNaN(ys[index])) {
      isBroken = true;
      continue;
    }
    const last = kept.at(-1);
    const isClose =
      last !== undefined &&
      Math.abs(xs[index] - xs[last]) <= CLOSE * width &&
      Math.abs(ys[index] - ys[last]) <= CLOSE * height;
    // The newest point is always there.
    if (isClose && !isBroken && index < times.length - 1) continue;
    kept.push(index);
    starts.push(isBroken);
    isBroken = false;
  }
  return chosen({ times, xs, ys, breaks }, kept, starts);
}

function chosen({ times, xs, ys }: Trace, kept: readonly number[], starts: readonly boolean[]): Trace {
  const step = Math.ceil(kept.length / MOST);
  const rows: number[] = [];
  const breaks: number[] = [];
  let isBroken = false;
  kept.forEach((index, place) => {
    isBroken ||= starts[place];
    if (place % step !== 0 && place < kept.length - 1 && !starts[place]) return;
    rows.push(index);
    breaks.push(isBroken ? 1 : 0);
    isBroken = false;
  });
  const of = (column: Float64Array) => Float64Array.from(rows, (index) => column[index]);
  return { times: of(times), xs: of(xs), ys: of(ys), breaks: Uint8Array.from(breaks) };
}

function extent(values: Float64Array): number {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return high > low ? high - low : 0;
}
