import type { Vector } from './frame.ts';

/** Coordinates of this size keep their differences finite. */
const LARGE = Number.MAX_VALUE / 4;

/**
 * Coordinates for the graphics processor, which has 24 bits of each: relative to an origin near what is drawn, in units of
 * its size.
 */
export class LocalFrame {
  /** Keeps differences finite. */
  private readonly factor: number;

  constructor(
    readonly origin: Vector,
    /** Length of a unit; more than 0. */
    readonly size: number,
  ) {
    this.factor = size > LARGE || Math.max(...origin.map(Math.abs)) > LARGE ? 0.25 : 1;
  }

  /** Returns a place in this frame. */
  place([x, y, z]: Vector): Vector {
    return [this.coordinate(x, 0), this.coordinate(y, 1), this.coordinate(z, 2)];
  }

  /** Returns a length in this frame. */
  length(length: number): number {
    return length / this.size;
  }

  coordinate(value: number, axis: number): number {
    const { factor, origin, size } = this;
    return (value * factor - origin[axis] * factor) / (size * factor);
  }
}
