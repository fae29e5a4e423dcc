import { apart, finite, widthRatio } from '../series/value_scale.ts';

/** Room above and below the values, as a share of their range. */
const MARGIN = 0.08;
/** The range shrinks if the values need less than this share of it; until then it stays, so that a live chart is calm. */
const SHRINK_BELOW = 0.55;
/** Values near zero, compared to their size, are shown with zero. */
const NEAR_ZERO = 0.6;
const { MIN_VALUE } = Number;

/** The range of values of an axis. It grows at once and shrinks late. */
export class ScaleRange {
  private low = Number.NaN;
  private high = Number.NaN;

  /**
   * Returns the range for values from `min` to `max`; both are not finite if there are no values. The range is finite, has a
   * width, and contains the values.
   */
  fit(min: number, max: number): [number, number] {
    if (!(min <= max) || !Number.isFinite(min) || !Number.isFinite(max)) {
      return Number.isNaN(this.low) ? [0, 1] : [this.low, this.high];
    }
    const isOutside = !(min >= this.low && max <= this.high);
    if (isOutside || widthRatio([min, max], [this.low, this.high]) < SHRINK_BELOW)
      [this.low, this.high] = padded(min, max);
    return [this.low, this.high];
  }

  reset(): void {
    this.low = Number.NaN;
    this.high = Number.NaN;
  }
}

/**
 * Returns the whole decades around values that are above 0: calm, and with labels at both ends. The outermost decades end
 * with the smallest and the largest double.
 */
export function decades(min: number, max: number): [number, number] {
  if (!(min > 0) || !Number.isFinite(max)) return [1, 10];
  const low = Math.floor(Math.log10(min) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(Math.log10(max) - 1e-9));
  return [powerOfTen(low), powerOfTen(high)];
}

/** Returns a range with the ends that somebody has chosen; on a logarithmic axis only those above 0. */
export function withEnds(
  found: readonly [number, number],
  { min, max }: { readonly min?: number; readonly max?: number } = {},
  isLogarithmic = false,
): [number, number] {
  const chosen = (end: number | undefined) =>
    isLogarithmic && end !== undefined && end <= 0 ? undefined : end;
  const [from, to] = [chosen(min), chosen(max)];
  const [low, high] = [from ?? found[0], to ?? found[1]];
  if (low < high) return [low, high];
  // The values are all beyond the only end that is chosen.
  const isBelow = from === undefined;
  if (isLogarithmic)
    return isBelow
      ? apart(Math.max(MIN_VALUE, high / 10), Math.max(2 * MIN_VALUE, high))
      : apart(low, finite(low * 10));
  const room = Math.max(1, Math.abs(isBelow ? high : low) * 0.1);
  return isBelow ? apart(finite(high - room), high) : apart(low, finite(low + room));
}

/** Returns a power as its decimal notation has it: `10 ** -24` is another double than 1e-24. */
function powerOfTen(exponent: number): number {
  return finite(Math.max(MIN_VALUE, Number(`1e${exponent}`)));
}

function padded(min: number, max: number): [number, number] {
  const low = min >= 0 && min < NEAR_ZERO * max ? 0 : min;
  const high = max <= 0 && max > NEAR_ZERO * min ? 0 : max;
  if (low === high) return apart(low, high);
  // Each part by itself: the width of the range may be no finite number.
  const margin = high * MARGIN - low * MARGIN;
  return [
    low === 0 && min >= 0 ? 0 : finite(low - margin),
    high === 0 && max <= 0 ? 0 : finite(high + margin),
  ];
}
