import { type Bounds, sphereOf } from './frame.ts';
import type { LocalFrame } from './local_frame.ts';

/** A grid at one height, in the frame of the view. */
export interface Ground {
  /** Distance of its lines. */
  readonly spacing: number;
  readonly height: number;
  /** Two ends of each line in the local frame, and whether the line is at 0. */
  readonly lines: readonly { readonly ends: readonly number[]; readonly isZero: boolean }[];
}

/** Lines on each side of the middle. */
const LINES = 12;
const STEPS = [1, 2, 5, 10];

/** Returns a grid below places: at the height 0 if that is near, else at the lowest one. */
export function groundOf(bounds: Bounds, local: LocalFrame): Ground {
  const { middle, radius } = sphereOf(bounds);
  const size = radius > 0 ? radius : 1;
  const spacing = roundLength(size / 4);
  const [low, high] = [bounds.low[2], bounds.high[2]];
  const height = low - size <= 0 && high + size >= 0 ? 0 : low;
  const up = local.coordinate(height, 2);
  const [xs, ys] = [0, 1].map((axis) => linesOf(middle[axis], spacing, axis, local));
  const [left, right] = [xs[0].at, xs[xs.length - 1].at];
  const [front, end] = [ys[0].at, ys[ys.length - 1].at];
  return {
    spacing,
    height,
    lines: [
      ...xs.map(({ at, isZero }) => ({ ends: [at, front, up, at, end, up], isZero })),
      ...ys.map(({ at, isZero }) => ({ ends: [left, at, up, right, at, up], isZero })),
    ],
  };
}

/** Places of lines along an axis: multiples of the spacing, where numbers of this size tell these apart. */
function linesOf(middle: number, spacing: number, axis: number, local: LocalFrame) {
  const nearest = Math.round(middle / spacing);
  const isExact = Number.isSafeInteger(nearest);
  return Array.from({ length: 2 * LINES + 1 }, (_, index) => {
    const number = index - LINES;
    const offset = number * local.length(spacing);
    const base = isExact ? nearest * spacing : middle;
    return {
      at: local.coordinate(base, axis) + offset,
      isZero: isExact && nearest + number === 0,
    };
  });
}

/** Returns the nearest of 1, 2 and 5 times a power of ten at or above a length. */
function roundLength(length: number): number {
  // Denormal numbers have few digits, and the largest ones no power above them.
  const power = Math.max(-300, Math.min(307, Math.floor(Math.log10(length))));
  const unit = 10 ** power;
  return unit * (STEPS.find((step) => step * unit >= length * (1 - 1e-9)) ?? 10);
}
