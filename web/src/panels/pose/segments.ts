import type { PoseTrack } from '../../series/pose_track.ts';
import { toView, type UpAxis, type Vector } from './frame.ts';
import type { LocalFrame } from './local_frame.ts';

/** A color as three parts from 0 to 255. */
export type Color = readonly number[];

/** Lines and dots for the graphics processor: three coordinates, and three parts of a color from 0 to 1, for each end. */
export interface Segments {
  /** Two ends of each line. */
  readonly lines: Float32Array;
  readonly lineColors: Float32Array;
  /** Positions that no line leads to or from. */
  readonly dots: Float32Array;
  readonly dotColors: Float32Array;
}

/** Returns a position of a track in the frame of the view. */
export function placeOf({ xs, ys, zs }: PoseTrack, index: number, up: UpAxis): Vector {
  return toView(up, [xs[index], ys[index], zs[index]]);
}

/** Returns the number of the first pose at or after a time. */
export function firstAfter({ times }: PoseTrack, time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the lines of a track between two times in the colors of time, oldest first. No line leads over a gap. */
export function segmentsOf(
  track: PoseTrack,
  up: UpAxis,
  local: LocalFrame,
  [from, to]: readonly [number, number],
  colors: readonly Color[],
): Segments {
  const { times, breaks } = track;
  const first = firstAfter(track, from);
  const lines = new Ends();
  const dots = new Ends();
  const colorAt = (index: number) => {
    const share = to > from ? (times[index] - from) / (to - from) : 1;
    return colors[Math.max(0, Math.min(colors.length - 1, Math.floor(share * colors.length)))];
  };
  let before: Vector | undefined;
  for (let index = first; index < times.length; index++) {
    const place = local.place(placeOf(track, index, up));
    const isJoined = before !== undefined && breaks[index] === 0;
    const isContinued = index + 1 < times.length && breaks[index + 1] === 0;
    if (isJoined && before) {
      lines.add(before, colorAt(index - 1));
      lines.add(place, colorAt(index));
    } else if (!isContinued) dots.add(place, colorAt(index));
    before = place;
  }
  return {
    lines: Float32Array.from(lines.places),
    lineColors: Float32Array.from(lines.colors),
    dots: Float32Array.from(dots.places),
    dotColors: Float32Array.from(dots.colors),
  };
}

class Ends {
  readonly places: number[] = [];
  readonly colors: number[] = [];

  add([x, y, z]: Vector, [red, green, blue]: Color): void {
    this.places.push(x, y, z);
    this.colors.push(red / 255, green / 255, blue / 255);
  }
}
