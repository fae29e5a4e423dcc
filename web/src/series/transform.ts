import { Fft } from './fft.ts';
import { finiteExtremes } from './value_scale.ts';

/** Window functions, by the weights of their cosines. */
const WINDOWS = {
  hann: [0.5, 0.5],
  blackman: [0.42, 0.5, 0.08],
  flattop: [0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368],
  none: [1],
} as const satisfies Record<string, readonly number[]>;
export type WindowName = keyof typeof WINDOWS;
export const windowNames = Object.keys(WINDOWS) as WindowName[];

/** Windowed transforms of one size. */
export class Transform {
  private readonly fft: Fft;
  private readonly weights: Float64Array;
  private readonly gain: number;

  constructor(
    private readonly size: number,
    window: WindowName,
  ) {
    this.fft = fftOf(size);
    this.weights = weightsOf(window, size);
    this.gain = this.weights.reduce((sum, weight) => sum + weight, 0);
  }

  /** The power of each frequency from 0 to half of the rate. */
  power(values: Float64Array): Float64Array {
    // Without its mean the window does not smear a large constant over the lowest frequencies.
    const mean = values.reduce((sum, value) => sum + value, 0) / this.size;
    return this.fft.power(values.map((value, index) => (value - mean) * this.weights[index]));
  }

  /** The size of a sine that has this power at a frequency. */
  amplitude(power: number, frequency: number): number {
    const isOnce = frequency === 0 || frequency === this.size / 2;
    return ((isOnce ? 1 : 2) * Math.sqrt(power)) / this.gain;
  }
}

/** Sizes whose squares and sums are numbers with all their digits. */
const USUAL = { from: 2 ** -300, to: 2 ** 300 };

/**
 * Returns values whose powers are finite and not zero, and the unit that they are in: 1, or for very small and very large
 * values a power of two.
 */
export function scaledSignal(values: Float64Array): { readonly values: Float64Array; readonly unit: number } {
  const [low, high] = finiteExtremes(values);
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (!Number.isFinite(size) || size === 0 || (size >= USUAL.from && size <= USUAL.to))
    return { values, unit: 1 };
  const unit = 2 ** Math.max(-1074, Math.min(1023, Math.floor(Math.log2(size))));
  return { values: values.map((value) => value / unit), unit };
}

let lastFft: Fft | undefined;

function fftOf(size: number): Fft {
  if (lastFft?.size !== size) lastFft = new Fft(size);
  return lastFft;
}

function weightsOf(window: WindowName, size: number): Float64Array {
  const cosines: readonly number[] = WINDOWS[window];
  return Float64Array.from({ length: size }, (_, index) => {
    const angle = (2 * Math.PI * index) / size;
    return cosines.reduce(
      (sum, weight, order) => sum + (order % 2 === 0 ? weight : -weight) * Math.cos(order * angle),
      0,
    );
  });
}
