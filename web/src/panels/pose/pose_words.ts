import { formatFigure, formatQuantity } from '../../format/axis.ts';
import { formatWithin } from '../../format/tick_labels.ts';
import type { PoseTrack } from '../../series/pose_track.ts';
import { finiteExtremes } from '../../series/value_scale.ts';
import { anglesOf, attitudeOf } from './attitude.ts';
import { heightOf } from './frame.ts';
import { type PoseDrawing, type PreparedPoses, quaternionAt } from './pose_drawing.ts';
import { poseStrings as words } from './strings.ts';

/** Lengths of a quaternion that rounding explains. */
const ROUNDING = 1e-3;

/** Returns the position of a pose in words. */
export function positionWords(
  { xs, ys, zs }: PoseTrack,
  at: number,
  units: readonly (string | undefined)[],
): string {
  const [x, y, z] = [xs, ys, zs].map((column, axis) =>
    formatWithin(column[at], finiteExtremes(column), units[axis]),
  );
  return words.position(x, y, z);
}

/** Returns the attitude of a pose in words; empty if the pose has no quaternion. */
export function attitudeWords(track: PoseTrack, at: number): string {
  if (track.quaternion.length === 0) return '';
  const attitude = attitudeOf(quaternionAt(track, at));
  if (attitude.state === 'unknown') return words.noAttitude;
  if (attitude.state === 'zero') return words.zero;
  const { roll, pitch, yaw } = anglesOf(attitude.rotation);
  const angles = words.angles(degrees(roll), degrees(pitch), degrees(yaw));
  if (Math.abs(attitude.length - 1) <= ROUNDING) return angles;
  return `${angles} (${words.normalized(formatQuantity(attitude.length, undefined, false))})`;
}

/** Returns the spacing and the height of the grid in words; empty without one. */
export function groundWords({ ground, bounds }: PreparedPoses, { up, unit }: PoseDrawing): string {
  if (!ground || !bounds) return '';
  const [axis, value] = heightOf(up, ground.height);
  const height = formatWithin(value, [bounds.low[2], bounds.high[2]], unit);
  return words.grid(formatQuantity(ground.spacing, unit, false), axis, height);
}

/** Tenths of a degree; a zero has no sign. */
function degrees(angle: number): string {
  const tenths = Math.round(angle * 10) / 10 + 0;
  return formatFigure(tenths, { unit: 'deg', isCounter: false, decimals: 1 });
}
