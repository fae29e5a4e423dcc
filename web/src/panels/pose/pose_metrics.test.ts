import { type Metric, parseSchema } from '@oasis/wire';
import { expect, it } from 'vitest';
import { findPose, isNorthEastDown } from './pose_metrics.ts';

const real = (name: string, unit?: string) => ({ name, type: 'real64', ...(unit && { unit }) });
const struct = (name: string, ...members: object[]) => ({
  name,
  type: { struct: { name: `${name}_t`, members } },
});
const vector = (name: string, unit?: string) => ({
  name,
  type: { vector: 'real32' },
  ...(unit && { unit }),
});
const reals = (...names: string[]) => names.map((name) => real(name));

/** Names of what is found, such as `q[0]`. */
function found(...metrics: object[]) {
  const schema = parseSchema({ name: 'P', uuid: 'u', version: '1.0', metrics });
  const { position, attitude } = findPose(schema.metrics as readonly Metric[]);
  const names = (of: typeof position) =>
    of?.map(({ metric, element }) => metric.replace('[]', `[${element}]`)).join(' ');
  return [names(position), names(attitude)];
}

it('finds coordinates by their names', () => {
  expect(found(...reals('x', 'y', 'z', 'vx', 'vy', 'vz'))).toEqual(['x y z', undefined]);
  expect(found(...reals('pos_z', 'pos_x', 'pos_y'))[0]).toBe('pos_x pos_y pos_z');
  expect(found(...reals('px', 'py', 'pz'))[0]).toBe('px py pz');
  expect(found(vector('velocity', 'm/s'), vector('position', 'm'))[0]).toBe(
    'position[0] position[1] position[2]',
  );
});

it('takes no coordinates of something else', () => {
  expect(found(...['x', 'y', 'z'].map((name) => real(name, 'm/s2')))).toEqual([undefined, undefined]);
  expect(found(...reals('vx', 'vy', 'vz'), ...reals('accel_x', 'accel_y', 'accel_z'))[0]).toBeUndefined();
  expect(found(...reals('x', 'y'))[0]).toBeUndefined();
  expect(found(...['x', 'y', 'z'].map((name) => real(name, 'no unit')))[0]).toBeUndefined();
});

it('finds parts of a quaternion by letter', () => {
  expect(found(...reals('qw', 'qx', 'qy', 'qz'))[1]).toBe('qx qy qz qw');
  expect(found(...reals('q_x', 'q_y', 'q_z', 'q_w'))[1]).toBe('q_x q_y q_z q_w');
  expect(found(struct('orientation', ...reals('x', 'y', 'z', 'w')))).toEqual([
    undefined,
    'orientation.x orientation.y orientation.z orientation.w',
  ]);
});

it('takes the first of numbered parts as w, as PX4 and MAVLink do', () => {
  expect(found(vector('q'))[1]).toBe('q[1] q[2] q[3] q[0]');
  expect(found(...reals('q[0]', 'q[1]', 'q[2]', 'q[3]'))[1]).toBe('q[1] q[2] q[3] q[0]');
  expect(found(...reals('q1', 'q2', 'q3', 'q4'))[1]).toBe('q2 q3 q4 q1');
});

it('finds the pose of an odometry of ROS, and not its twist', () => {
  const xyz = (name: string) => struct(name, ...reals('x', 'y', 'z'));
  const pose = struct('pose', xyz('position'), struct('orientation', ...reals('x', 'y', 'z', 'w')));
  const twist = struct('twist', struct('twist', xyz('linear'), xyz('angular')));
  expect(found(twist, struct('pose', pose))).toEqual([
    'pose.pose.position.x pose.pose.position.y pose.pose.position.z',
    'pose.pose.orientation.x pose.pose.orientation.y pose.pose.orientation.z pose.pose.orientation.w',
  ]);
});

it('knows names of frames whose z points down', () => {
  for (const name of ['LOCAL_POSITION_NED', 'vehicle_local_position', 'pose_ned'])
    expect(isNorthEastDown([name])).toBe(true);
  for (const name of ['odom', 'combined', 'planned_path']) expect(isNorthEastDown([name])).toBe(false);
});
