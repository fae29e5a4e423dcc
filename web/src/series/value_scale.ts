/** An axis keeps lines that leave it within this many of its lengths: a canvas draws no infinite coordinate. */
const MAX_SHARE = 1000;
/** Share of what has no place on a logarithmic axis: below its lower end. */
const BELOW = -1;
const { MAX_VALUE, MIN_VALUE } = Number;

/**
 * Maps finite values to shares of an axis, 0 at its lower and 1 at its upper end, for each pair of ends: a range of
 * denormal numbers, of a few units in the last place, or from one end of all doubles to the other.
 */
export class ValueScale {
  /** Keeps the width of the range finite. */
  private readonly factor: number;
  private readonly start: number;
  private readonly width: number;

  constructor(
    readonly low: number,
    readonly high: number,
    readonly isLogarithmic = false,
  ) {
    this.factor = isLogarithmic || Number.isFinite(high - low) ? 1 : 0.25;
    this.start = isLogarithmic ? Math.log10(low) : low * this.factor;
    this.width = (isLogarithmic ? Math.log10(high) : high * this.factor) - this.start;
  }

  /** Returns the share of a value. Values far outside of the axis are closer to it; NaN stays NaN. */
  share(value: number): number {
    if (this.isLogarithmic && value <= 0) return BELOW;
    const from = (this.isLogarithmic ? Math.log10(value) : value * this.factor) - this.start;
    const share = this.width > 0 ? from / this.width : 0.5;
    return Math.max(-MAX_SHARE, Math.min(MAX_SHARE, share));
  }

  /** Returns the value at a share. */
  value(share: number): number {
    if (this.isLogarithmic) return finite(10 ** (this.start + share * this.width));
    return finite((this.start + share * this.width) / this.factor);
  }
}

/** Returns the nearest finite number; NaN stays NaN. */
export function finite(value: number): number {
  return Math.max(-MAX_VALUE, Math.min(MAX_VALUE, value));
}

/** Returns the width of one range as a share of another. */
export function widthRatio(one: readonly [number, number], other: readonly [number, number]): number {
  const factor = Number.isFinite(other[1] - other[0]) && Number.isFinite(one[1] - one[0]) ? 1 : 0.25;
  return (one[1] * factor - one[0] * factor) / (other[1] * factor - other[0] * factor);
}

/** Returns ends that differ, for a chosen or computed pair that may not. */
export function apart(low: number, high: number): [number, number] {
  if (low < high) return [low, high];
  const size = Math.abs(low);
  if (size === 0) return [0, 1];
  // Five percent of a denormal number is nothing.
  const room = Math.max(size * 0.05, MIN_VALUE);
  return [finite(low - room), finite(low + room)];
}

/** Returns the least and the greatest finite value; not finite without any. */
export function finiteExtremes(values: ArrayLike<number>): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let index = 0; index < values.length; index++) {
    const value = values[index];
    if (value < low && value !== Number.NEGATIVE_INFINITY) low = value;
    if (value > high && value !== Number.POSITIVE_INFINITY) high = value;
  }
  return [low, high];
}
