/** Three numbers: a place or a direction. */
export type Vector = readonly [x: number, y: number, z: number];

/** The direction of the data that is up on the screen: z, y, or that opposite to z, which points down. */
export type UpAxis = 'z' | 'y' | 'down';

export const UP_AXES: readonly UpAxis[] = ['z', 'y', 'down'];

/** Returns a place of the data in the frame of the view: right-handed, z up. North is ahead if z points down. */
export function toView(up: UpAxis, [x, y, z]: Vector): Vector {
  if (up === 'y') return [x, -z, y];
  return up === 'down' ? [y, x, -z] : [x, y, z];
}

/** Returns the coordinate of the data that a height of the view stands for, and its name. */
export function heightOf(up: UpAxis, height: number): readonly [name: 'y' | 'z', value: number] {
  if (up === 'y') return ['y', height];
  // A zero has no sign.
  return ['z', up === 'down' ? 0 - height : height];
}

/** The least and the greatest coordinates of places. */
export interface Bounds {
  readonly low: Vector;
  readonly high: Vector;
}

/** Returns the bounds of places; undefined without one. */
export function boundsOf(places: Iterable<Vector>): Bounds | undefined {
  let [low, high]: [number[], number[]] = [[], []];
  for (const place of places) {
    if (low.length === 0) [low, high] = [[...place], [...place]];
    for (let axis = 0; axis < 3; axis++) {
      if (place[axis] < low[axis]) low[axis] = place[axis];
      if (place[axis] > high[axis]) high[axis] = place[axis];
    }
  }
  return low.length === 0 ? undefined : { low: low as unknown as Vector, high: high as unknown as Vector };
}

/** Differences below this are none: the unit of a drawing would have too few digits. */
const MIN_DIFFERENCE = 1e-300;

/** Returns the greatest difference of coordinates, which is finite; 0 for places that do not differ. */
export function sizeOf({ low, high }: Bounds): number {
  const size = Math.max(...low.map((value, axis) => high[axis] - value));
  return size < MIN_DIFFERENCE ? 0 : Math.min(Number.MAX_VALUE, size);
}

/** Returns the middle of bounds, and half of their diagonal; both are finite. */
export function sphereOf(bounds: Bounds): { readonly middle: Vector; readonly radius: number } {
  const { low, high } = bounds;
  const halves = low.map((value, axis) => high[axis] / 2 - value / 2);
  const middle = low.map((value, axis) => value + halves[axis]) as unknown as Vector;
  return { middle, radius: sizeOf(bounds) > 0 ? Math.min(Number.MAX_VALUE, Math.hypot(...halves)) : 0 };
}
