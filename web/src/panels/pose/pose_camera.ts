import { type Bounds, sphereOf, type Vector } from './frame.ts';
import type { LocalFrame } from './local_frame.ts';

/** Where somebody looks from, in the frame of the view. */
export interface PoseView {
  /** The place in the middle of the screen. */
  readonly target: Vector;
  /** From there to the eye. */
  readonly distance: number;
  /** Direction to the eye in radians: around the upward axis, and above the ground. */
  readonly azimuth: number;
  readonly elevation: number;
}

/** Height of the field of view, in radians. */
export const FIELD_OF_VIEW = Math.PI / 4;
/** Largest elevation in radians: straight above, right and left are not defined. */
const MAX_ELEVATION = (89 / 180) * Math.PI;
const RADIANS_PER_PIXEL = 0.008;
/** Room around what is fitted, as a factor. */
const ROOM = 1.15;
/** A fitted view is changed if it could be so many times as large. */
const TOO_FAR = 2;
/** Half the size of a place that does not move, in units of the data. */
const STILL = 1;
const { MAX_VALUE, MIN_VALUE } = Number;

export const FIRST_VIEW: PoseView = {
  target: [0, 0, 0],
  distance: 4,
  azimuth: (-60 / 180) * Math.PI,
  elevation: (30 / 180) * Math.PI,
};

/** Turns the view around its middle by pixels. */
export function orbited(view: PoseView, right: number, down: number): PoseView {
  return {
    ...view,
    azimuth: (view.azimuth - right * RADIANS_PER_PIXEL) % (2 * Math.PI),
    elevation: clamp(view.elevation + down * RADIANS_PER_PIXEL, -MAX_ELEVATION, MAX_ELEVATION),
  };
}

/** Moves what is shown by pixels of a drawing of this height. */
export function panned(view: PoseView, [right, down]: readonly [number, number], height: number): PoseView {
  const pixel = (2 * Math.tan(FIELD_OF_VIEW / 2) * view.distance) / height;
  const { right: across, up } = basisOf(view);
  const target = view.target.map((value, axis) =>
    clamp(value + pixel * (down * up[axis] - right * across[axis]), -MAX_VALUE, MAX_VALUE),
  ) as unknown as Vector;
  return { ...view, target };
}

/** Comes closer by a factor. */
export function zoomed(view: PoseView, factor: number): PoseView {
  return { ...view, distance: clamp(view.distance / factor, MIN_VALUE / Number.EPSILON, MAX_VALUE) };
}

/** Shows all of bounds from the same direction. */
export function fitted(view: PoseView, bounds: Bounds | undefined, aspect: number): PoseView {
  if (!bounds) return view;
  const { middle, radius } = sphereOf(bounds);
  return { ...view, target: middle, distance: distanceFor(radius, aspect) };
}

/** Whether a fitted view shows less than all of bounds, or could be much larger. */
export function needsFit(view: PoseView, bounds: Bounds | undefined, aspect: number): boolean {
  if (!bounds) return false;
  const { middle, radius } = sphereOf(bounds);
  const moved = Math.hypot(...middle.map((value, axis) => value - view.target[axis]));
  const wanted = distanceFor(radius, aspect);
  return distanceFor(radius + moved, aspect) > view.distance * ROOM || wanted * TOO_FAR < view.distance;
}

/** Returns the directions to the right, upward, and to the eye. */
export function basisOf({ azimuth, elevation }: PoseView): {
  readonly right: Vector;
  readonly up: Vector;
  readonly back: Vector;
} {
  const [sinA, cosA] = [Math.sin(azimuth), Math.cos(azimuth)];
  const [sinE, cosE] = [Math.sin(elevation), Math.cos(elevation)];
  return {
    right: [-sinA, cosA, 0],
    up: [-sinE * cosA, -sinE * sinA, cosE],
    back: [cosE * cosA, cosE * sinA, sinE],
  };
}

/** Places on the screen, in pixels. */
export class PoseProjection {
  private readonly basis;
  private readonly target: Vector;
  /** From the middle to the eye, in the local frame. */
  readonly distance: number;
  private readonly focus: number;

  constructor(
    view: PoseView,
    local: LocalFrame,
    private readonly width: number,
    private readonly height: number,
  ) {
    this.basis = basisOf(view);
    this.target = local.place(view.target);
    this.distance = local.length(view.distance);
    this.focus = height / (2 * Math.tan(FIELD_OF_VIEW / 2));
  }

  /** Returns the place of the eye in the local frame. */
  get eye(): Vector {
    return this.target.map(
      (value, axis) => value + this.distance * this.basis.back[axis],
    ) as unknown as Vector;
  }

  get middle(): Vector {
    return this.target;
  }

  /** Returns the pixel of a place in the local frame; undefined behind the eye. */
  pixel(place: Vector): readonly [x: number, y: number] | undefined {
    const from = place.map((value, axis) => value - this.target[axis]) as unknown as Vector;
    const depth = this.distance - dot(from, this.basis.back);
    if (!(depth > this.distance * 1e-3)) return undefined;
    const scale = this.focus / depth;
    return [
      this.width / 2 + scale * dot(from, this.basis.right),
      this.height / 2 - scale * dot(from, this.basis.up),
    ];
  }

  /** Returns how a direction looks from here: to the right, downward, and toward the eye. */
  direction(of: Vector): Vector {
    return [dot(of, this.basis.right), -dot(of, this.basis.up), dot(of, this.basis.back)];
  }
}

function distanceFor(radius: number, aspect: number): number {
  const half = Math.atan(Math.tan(FIELD_OF_VIEW / 2) * Math.min(1, aspect));
  const distance = ((radius > 0 ? radius : STILL) * ROOM) / Math.sin(half);
  return clamp(distance, MIN_VALUE / Number.EPSILON, MAX_VALUE);
}

function dot(one: Vector, other: Vector): number {
  return one[0] * other[0] + one[1] * other[1] + one[2] * other[2];
}

function clamp(value: number, least: number, greatest: number): number {
  return Math.max(least, Math.min(greatest, value));
}
