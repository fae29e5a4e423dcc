import { finiteExtremes } from './value_scale.ts';

/** Points of one value over another, oldest first. */
export interface Trace {
  readonly times: Float64Array;
  readonly xs: Float64Array;
  readonly ys: Float64Array;
  /** 1 if no line leads to the point. */
  readonly breaks: Uint8Array;
}

/** Most points that are drawn. */
const MAX_POINTS = 8192;
/** Points closer than this share of the extent are one. */
const CLOSE = 1 / 2000;

/**
 * Removes unknown points, and points too close to the previous one to be visible. Points with infinite values stay, without a
 * line to them or from them.
 */
export function thin({ times, xs, ys, breaks }: Trace): Trace {
  const [width, height] = [new Extent(xs), new Extent(ys)];
  const kept: number[] = [];
  const starts: boolean[] = [];
  let isBroken = true;
  for (let index = 0; index < times.length; index++) {
    isBroken ||= breaks[index] === 1;
    if (Number.isNaN(xs[index]) || Number.isNaN(ys[index])) {
      isBroken = true;
      continue;
    }
    const isInfinite = !(Number.isFinite(xs[index]) && Number.isFinite(ys[index]));
    isBroken ||= isInfinite;
    const last = kept.at(-1);
    const isClose =
      last !== undefined && width.areClose(xs[index], xs[last]) && height.areClose(ys[index], ys[last]);
    // The newest point is always there.
    if (isClose && !isBroken && index < times.length - 1) continue;
    kept.push(index);
    starts.push(isBroken);
    isBroken = isInfinite;
  }
  return chosen({ times, xs, ys, breaks }, kept, starts);
}

function chosen({ times, xs, ys }: Trace, kept: readonly number[], starts: readonly boolean[]): Trace {
  const step = Math.ceil(kept.length / MAX_POINTS);
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

/** Compares distances with the extent of all finite values, in quarters: no difference of quarters is infinite. */
class Extent {
  private readonly close: number;

  constructor(values: Float64Array) {
    const [low, high] = finiteExtremes(values);
    this.close = high > low ? CLOSE * (high / 4 - low / 4) : 0;
  }

  areClose(one: number, other: number): boolean {
    return Math.abs(one / 4 - other / 4) <= this.close;
  }
}
