/**
 * Fourier transforms of one length, a power of two: real numbers to the complex ones of half their number (radix 2, in place).
 * The tables are made once for each length.
 */
export class Fft {
  private readonly cos: Float64Array;
  private readonly sin: Float64Array;
  private readonly order: Uint32Array;
  private readonly re: Float64Array;
  private readonly im: Float64Array;
  private readonly half: number;

  constructor(readonly size: number) {
    if (size < 4 || (size & (size - 1)) !== 0) throw new RangeError(`${size} is not a power of two`);
    this.half = size / 2;
    this.cos = Float64Array.from({ length: this.half }, (_, index) => Math.cos((2 * Math.PI * index) / size));
    this.sin = Float64Array.from({ length: this.half }, (_, index) => Math.sin((2 * Math.PI * index) / size));
    this.order = reversed(this.half);
    this.re = new Float64Array(this.half);
    this.im = new Float64Array(this.half);
  }

  /** Returns the squared sizes of the frequencies 0 to half of the size. */
  power(values: Float64Array): Float64Array {
    const { half, re, im, order } = this;
    // Even and odd samples are one complex number: the transform has half the length.
    for (let index = 0; index < half; index++) {
      const at = order[index];
      re[index] = values[2 * at];
      im[index] = values[2 * at + 1];
    }
    this.butterflies();
    return this.unpacked();
  }

  private butterflies(): void {
    const { half, re, im, cos, sin } = this;
    for (let length = 2; length <= half; length *= 2) {
      const step = this.size / length;
      const middle = length / 2;
      for (let start = 0; start < half; start += length) {
        for (let offset = 0, turn = 0; offset < middle; offset++, turn += step) {
          const [one, other] = [start + offset, start + offset + middle];
          const real = re[other] * cos[turn] + im[other] * sin[turn];
          const imaginary = im[other] * cos[turn] - re[other] * sin[turn];
          re[other] = re[one] - real;
          im[other] = im[one] - imaginary;
          re[one] += real;
          im[one] += imaginary;
        }
      }
    }
  }

  /** Separates the transforms of even and odd samples, and joins them to that of all. */
  private unpacked(): Float64Array {
    const { half, re, im, cos, sin } = this;
    const power = new Float64Array(half + 1);
    power[0] = (re[0] + im[0]) ** 2;
    power[half] = (re[0] - im[0]) ** 2;
    for (let index = 1; index < half; index++) {
      const mirror = half - index;
      const evenRe = (re[index] + re[mirror]) / 2;
      const evenIm = (im[index] - im[mirror]) / 2;
      const oddRe = (im[index] + im[mirror]) / 2;
      const oddIm = (re[mirror] - re[index]) / 2;
      const real = evenRe + oddRe * cos[index] + oddIm * sin[index];
      const imaginary = evenIm + oddIm * cos[index] - oddRe * sin[index];
      power[index] = real ** 2 + imaginary ** 2;
    }
    return power;
  }
}

/** The indices with their bits reversed. */
function reversed(count: number): Uint32Array {
  const order = new Uint32Array(count);
  const bits = Math.log2(count);
  for (let index = 0; index < count; index++)
    for (let bit = 0; bit < bits; bit++) if (index & (1 << bit)) order[index] |= 1 << (bits - 1 - bit);
  return order;
}
