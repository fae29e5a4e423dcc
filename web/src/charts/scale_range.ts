/** Room above and below the values, as a share of their range. */
const MARGIN = 0.08;
/** The range shrinks if the values need less than this share of it; until then it stays, so that a live chart is calm. */
const SHRINK_BELOW = 0.55;

/** The range of values of an axis. It grows at once and shrinks late. */
export class ScaleRange {
  private low = Number.NaN;
  private high = Number.NaN;

  /** Returns the range for values from `min` to `max`; both are not finite if there are no values. */
  fit(min: number, max: number): [number, number] {
    if (!(min <= max) || !Number.isFinite(min) || !Number.isFinite(max)) {
      return Number.isNaN(this.low) ? [0, 1] : [this.low, this.high];
    }
    const used = Math.max(max - min, Math.abs(max) * 1e-9);
    const isOutside = !(min >= this.low && max <= this.high);
    if (isOutside || used < SHRINK_BELOW * (this.high - this.low)) [this.low, this.high] = padded(min, max);
    return [this.low, this.high];
  }

  reset(): void {
    this.low = Number.NaN;
    this.high = Number.NaN;
  }
}

/** The whole decades around values that are above 0: calm, and with labels at both ends. */
export function decades(min: number, max: number): [number, number] {
  if (!(min > 0) || !Number.isFinite(max)) return [1, 10];
  const low = Math.floor(Math.log10(min) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(Math.log10(max) - 1e-9));
  return [10 ** low, 10 ** high];
}

function padded(min: number, max: number): [number, number] {
  // Values near zero, compared to their size, are shown with zero.
  const low = min >= 0 && min < 0.6 * max ? 0 : min;
  const high = max <= 0 && max > 0.6 * min ? 0 : max;
  if (low === high) return low === 0 ? [0, 1] : [low - Math.abs(low) * 0.05, high + Math.abs(high) * 0.05];
  const margin = (high - low) * MARGIN;
  return [low === 0 && min >= 0 ? 0 : low - margin, high === 0 && max <= 0 ? 0 : high + margin];
}
