import { parseSchema } from '@oasis/wire';
import { expect, it } from 'vitest';
import { targetsOf } from '../../state/panel_kinds.ts';
import { keyOf } from '../../wire/target.ts';
import { descriptionOf, panelChoices, parsePanel } from '../descriptions.ts';
import { buildPanels, suits } from '../shared/choices.ts';
import { panelFor } from '../shared/repeated.ts';
import { numberedParts } from './poses.ts';

const choice = panelChoices.find(({ name }) => name === 'pose')!;
const schemaOf = (name: string, ...metrics: object[]) =>
  parseSchema({ name, uuid: name, version: '1.0', metrics });
const reals = (...names: string[]) => names.map((name) => ({ name, type: 'real64' }));
const SCHEMAS = {
  vehicle_local_position: schemaOf('vehicle_local_position', ...reals('x', 'y', 'z')),
  vehicle_attitude: schemaOf('vehicle_attitude', { name: 'q', type: { vector: 'real32' } }),
  setpoint: schemaOf('setpoint', ...reals('x', 'y', 'z')),
  load: schemaOf('load', ...reals('load')),
} as const;
const target = (instance: keyof typeof SCHEMAS, node = 'drone') => ({ node, instance });
const build = (...targets: ReturnType<typeof target>[]) =>
  buildPanels(
    choice,
    { picks: targets.map((each) => ({ target: each, metric: undefined })) },
    ({ instance }) => SCHEMAS[instance as keyof typeof SCHEMAS],
  );
const POSITION = ['x', 'y', 'z'].map((axis) => `drone/vehicle_local_position.${axis}`);
const ATTITUDE = [1, 2, 3, 0].map((part) => `drone/vehicle_attitude.q[${part}]`);

it('takes position and attitude of PX4 from two instances, with z down', () => {
  expect(suits(choice, SCHEMAS.vehicle_attitude)).toBe(true);
  expect(suits(choice, SCHEMAS.load)).toBe(false);
  const [panel] = build(
    target('setpoint'),
    target('vehicle_local_position'),
    target('vehicle_attitude', 'other'),
  );
  expect(panel).toMatchObject({ poses: [{}, { position: POSITION }], up: 'down' });
  expect(build(target('vehicle_attitude'), target('vehicle_local_position'), target('setpoint'))).toEqual([
    {
      kind: 'pose',
      poses: [
        { position: POSITION, attitude: ATTITUDE },
        // One attitude turns one body.
        { position: ['x', 'y', 'z'].map((axis) => `drone/setpoint.${axis}`) },
      ],
      up: 'down',
    },
  ]);
  expect(build(target('setpoint'))).toEqual([{ kind: 'pose', poses: [expect.anything()] }]);
  expect(build(target('vehicle_attitude'))).toEqual([]);
});

it('names the parts of a quaternion that are numbered', () => {
  expect(numberedParts({ position: POSITION, attitude: ATTITUDE })).toEqual(['q[1]', 'q[2]', 'q[3]', 'q[0]']);
  expect(numberedParts({ position: POSITION, attitude: POSITION })).toBeUndefined();
  expect(numberedParts({ position: POSITION })).toBeUndefined();
});

it('reads back poses without what is invalid', () => {
  const whole = {
    id: 'p1',
    kind: 'pose',
    poses: [{ position: POSITION, attitude: ATTITUDE }],
    up: 'y',
    trail: 5,
  } as const;
  expect(parsePanel(whole)).toEqual(whole);
  const { trail: _, up: __, ...plain } = whole;
  expect(parsePanel({ ...whole, trail: 7, up: 'sideways' })).toEqual(plain);
  const poses = [{ position: POSITION, attitude: ['a +'] }, { position: POSITION.slice(1) }, 7, null];
  expect(parsePanel({ ...plain, poses })).toEqual({ ...plain, poses: [{ position: POSITION }] });
  expect(parsePanel({ ...plain, poses: [] })).toBeUndefined();
  expect(parsePanel({ id: 'p1', kind: 'pose' })).toBeUndefined();
});

it('is without the attitude, or the pose, of an instance that is gone', () => {
  const panel = { kind: 'pose', poses: [{ position: POSITION, attitude: ATTITUDE }] } as const;
  expect(targetsOf(panel)).toEqual([target('vehicle_local_position'), target('vehicle_attitude')]);
  const { without } = descriptionOf('pose');
  expect(without?.(panel, keyOf(target('vehicle_attitude')))).toEqual({
    kind: 'pose',
    poses: [{ position: POSITION }],
  });
  expect(without?.(panel, keyOf(target('vehicle_local_position')))).toBeUndefined();
});

it('is repeated for another node', () => {
  const panel = { kind: 'pose', poses: [{ position: POSITION, attitude: ATTITUDE }] } as const;
  const other = panelFor(panel, target('vehicle_local_position'), target('vehicle_local_position', 'rover'));
  expect(JSON.stringify(other)).toBe(JSON.stringify(panel).replaceAll('drone/', 'rover/'));
});
