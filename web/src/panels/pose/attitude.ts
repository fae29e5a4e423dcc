import type { Vector } from './frame.ts';

/** A rotation of the body into the frame of the data: a quaternion of length 1. */
export type Quaternion = readonly [x: number, y: number, z: number, w: number];

/** Roll, pitch and yaw in degrees. */
export interface Angles {
  readonly roll: number;
  readonly pitch: number;
  readonly yaw: number;
}

/** Why there is no attitude, or the attitude. */
export type Attitude =
  | { readonly state: 'known'; readonly rotation: Quaternion; readonly length: number }
  | { readonly state: 'unknown' }
  | { readonly state: 'zero' };

/** Sines of the pitch from which roll and yaw turn around the same axis. */
const LOCKED = 1 - 1e-12;
const DEGREES = 180 / Math.PI;

/** Normalizes a sampled quaternion. */
export function attitudeOf(parts: readonly number[]): Attitude {
  if (parts.length !== 4 || !parts.every(Number.isFinite)) return { state: 'unknown' };
  const largest = Math.max(...parts.map(Math.abs));
  if (largest === 0) return { state: 'zero' };
  // Squares of very large and very small parts are no numbers of their own.
  const [x, y, z, w] = parts.map((part) => part / largest);
  const length = Math.hypot(x, y, z, w);
  return {
    state: 'known',
    rotation: [x / length, y / length, z / length, w / length],
    length: length * largest,
  };
}

/**
 * Returns the angles of rotations around z, then the new y, then the new x. At a pitch of 90 degrees roll and yaw turn around
 * one axis: roll is 0 there.
 */
export function anglesOf([x, y, z, w]: Quaternion): Angles {
  const sine = Math.max(-1, Math.min(1, 2 * (w * y - z * x)));
  if (Math.abs(sine) > LOCKED)
    return { roll: 0, pitch: Math.sign(sine) * 90, yaw: turned(2 * Math.atan2(z, w) * DEGREES) };
  return {
    roll: Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)) * DEGREES,
    pitch: Math.asin(sine) * DEGREES,
    yaw: Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) * DEGREES,
  };
}

/** Returns the axes of the body in the frame of the data. */
export function axesOf([x, y, z, w]: Quaternion): readonly [Vector, Vector, Vector] {
  return [
    [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
    [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
    [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
  ];
}

/** An angle between -180 and 180 degrees. */
function turned(angle: number): number {
  if (angle > 180) return angle - 360;
  return angle < -180 ? angle + 360 : angle;
}
