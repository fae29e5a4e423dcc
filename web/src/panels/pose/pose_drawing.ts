import { path } from '../../charts/mix.ts';
import type { Palette } from '../../charts/palette.ts';
import { pointAt } from '../../series/point_at.ts';
import type { PoseTrack } from '../../series/pose_track.ts';
import { attitudeOf, axesOf } from './attitude.ts';
import { type Bounds, boundsOf, sizeOf, toView, type UpAxis, type Vector } from './frame.ts';
import { type Ground, groundOf } from './ground.ts';
import { LocalFrame } from './local_frame.ts';
import { type Color, firstAfter, placeOf, type Segments, segmentsOf } from './segments.ts';

/** A track as it is drawn. */
export interface DrawnPose {
  readonly track: PoseTrack;
  readonly name: string;
  /** Color of its mark. */
  readonly color: string;
}

/** Poses, and the part of them that is drawn. */
export interface PoseDrawing {
  readonly poses: readonly DrawnPose[];
  readonly up: UpAxis;
  /** Unit of the coordinates. */
  readonly unit: string | undefined;
  readonly times: readonly [from: number, to: number];
}

/** The newest place of a body. */
export interface BodyMark {
  readonly place: Vector;
  readonly name: string;
  readonly color: string;
  readonly axes: Segments | undefined;
}

/** A drawing in the local frame, ready for the graphics processor. */
export interface PreparedPoses {
  readonly local: LocalFrame;
  /** Of the trails in the frame of the view; undefined without a position. */
  readonly bounds: Bounds | undefined;
  readonly ground: Ground | undefined;
  readonly trails: readonly Segments[];
  readonly bodies: readonly BodyMark[];
}

/** Steps of a trail's color, from faint to strong. */
const COLORS = 24;
const AXIS_COLORS = ['#e5484d', '#30a46c', '#3e7bfa'];
const ORIGIN: Vector = [0, 0, 0];

/** Colors of the axes x, y and z. */
export const axisColors: readonly string[] = AXIS_COLORS;

/** Returns what is drawn of poses, relative to the newest position of the first one. */
export function preparePoses({ poses, up, times }: PoseDrawing, palette: Palette): PreparedPoses {
  const bounds = boundsOf(placesOf(poses, up, times[0]));
  const local = frameFor(poses, up, bounds);
  return {
    local,
    bounds,
    ground: bounds && groundOf(bounds, local),
    trails: poses.map(({ track, color }) =>
      segmentsOf(track, up, local, times, path([palette.line, color], COLORS)),
    ),
    bodies: poses.flatMap((pose) => bodyOf(pose, up, local, times[0]) ?? []),
  };
}

/** Returns the number of the pose at a time; -1 without one. */
export function poseAt(track: PoseTrack, time: number | undefined): number {
  return time === undefined ? track.times.length - 1 : pointAt(track, time, track.isOver === true);
}

/** Returns the sampled quaternion of a pose. */
export function quaternionAt({ quaternion }: PoseTrack, index: number): number[] {
  return quaternion.map((part) => part[index]);
}

function* placesOf(poses: readonly DrawnPose[], up: UpAxis, from: number): Iterable<Vector> {
  for (const { track } of poses)
    for (let index = firstAfter(track, from); index < track.times.length; index++)
      yield placeOf(track, index, up);
}

/** The origin is the newest position, because somebody looks there most closely. */
function frameFor(poses: readonly DrawnPose[], up: UpAxis, bounds: Bounds | undefined): LocalFrame {
  const newest = poses.find(({ track }) => track.times.length > 0)?.track;
  if (!bounds || !newest) return new LocalFrame(ORIGIN, 1);
  return new LocalFrame(placeOf(newest, newest.times.length - 1, up), sizeOf(bounds) || 1);
}

function bodyOf(
  { track, name, color }: DrawnPose,
  up: UpAxis,
  local: LocalFrame,
  from: number,
): BodyMark | undefined {
  const last = track.times.length - 1;
  if (last < 0 || track.times[last] < from) return undefined;
  const attitude = attitudeOf(quaternionAt(track, last));
  const place = local.place(placeOf(track, last, up));
  const axes =
    attitude.state === 'known'
      ? axisLines(axesOf(attitude.rotation).map((axis) => toView(up, axis)))
      : undefined;
  return { place, name, color, axes };
}

/** Lines of length 1 in the colors of the axes. */
function axisLines(directions: readonly Vector[]): Segments {
  const colors = AXIS_COLORS.map((color) => path([color, color], 2)[0].map((part) => part / 255));
  return {
    lines: Float32Array.from(directions.flatMap((direction) => [0, 0, 0, ...direction])),
    lineColors: Float32Array.from(colors.flatMap((color) => [...color, ...color])),
    dots: new Float32Array(),
    dotColors: new Float32Array(),
  };
}

/** Lines of the ground: those at 0 are stronger. */
export function groundLines(ground: Ground | undefined, palette: Palette): Segments {
  const [faint, strong] = [palette.grid, palette.line].map((color): Color => path([color, color], 2)[0]);
  const lines = ground?.lines ?? [];
  const colorOf = (isZero: boolean) => (isZero ? strong : faint).map((part) => part / 255);
  return {
    lines: Float32Array.from(lines.flatMap(({ ends }) => ends)),
    lineColors: Float32Array.from(lines.flatMap(({ isZero }) => [...colorOf(isZero), ...colorOf(isZero)])),
    dots: new Float32Array(),
    dotColors: new Float32Array(),
  };
}
