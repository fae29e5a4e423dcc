import type { UpAxis } from './frame.ts';

/** The panel of poses. Its code is loaded when the first one is shown. */
export const poseStrings = {
  about: (names: string) =>
    `Poses of ${names} in three dimensions; the values are in the list below. Drag or arrows: turn. Shift and drag or arrows, or two fingers: move. Wheel, plus or minus: zoom. 0: show all.`,
  empty: 'No position in the time shown.',
  failed: (name: string, problem: string) => `${name}: ${problem}`,
  fit: 'Show all',
  fitTip: 'Show all trails, and keep them in sight (0)',
  trail: 'Trail',
  whole: 'all',
  up: 'Up',
  upTip: 'The direction of the data that is up on the screen',
  ups: { z: 'z', y: 'y', down: 'NED: z is down' } satisfies Record<UpAxis, string>,
  metrics: 'Metrics',
  coordinates: ['x', 'y', 'z'],
  parts: ['Quaternion x', 'Quaternion y', 'Quaternion z', 'Quaternion w'],
  needed: 'A position needs x, y and z; a quaternion all four parts, or none.',
  pose: 'Pose of',
  add: 'a new one',
  remove: 'Remove this pose',
  done: 'Done',
  cancel: 'Cancel',
  noPosition: 'no position',
  position: (x: string, y: string, z: string) => `x ${x}, y ${y}, z ${z}`,
  angles: (roll: string, pitch: string, yaw: string) => `roll ${roll}, pitch ${pitch}, yaw ${yaw}`,
  anglesTip:
    'Rotations around z (yaw), then the new y (pitch), then the new x (roll), in the frame of the data',
  noAttitude: 'attitude unknown',
  zero: 'no attitude: the quaternion is 0',
  normalized: (length: string) => `quaternion of length ${length}, normalized`,
  unplaced: (count: string, isOne: boolean, name: string) =>
    isOne
      ? `${name}: 1 sample has no finite position.`
      : `${name}: ${count} samples have no finite position.`,
  scalarFirst: (name: string, parts: readonly string[]) =>
    `${name}: the quaternion is read as w = ${parts[3]}, x = ${parts[0]}, y = ${parts[1]}, z = ${parts[2]}, as PX4 has it. Change it in \u201cMetrics\u201d.`,
  grid: (spacing: string, axis: string, height: string) => `Grid of ${spacing} at ${axis} = ${height}`,
  axes: 'Axes of a body: x red, y green, z blue.',
  noWebGl:
    'This browser draws no 3D: WebGL is missing. Turn on hardware acceleration in its settings, or open the page in another browser. The values are below.',
  lost: 'The browser has ended the drawing, as it does when many 3D panels are open. Close some of them, then draw again.',
  again: 'Draw again',
  table: {
    time: 'time',
    instance: 'instance',
    coordinates: ['x', 'y', 'z'],
    parts: ['qx', 'qy', 'qz', 'qw'],
  },
};
