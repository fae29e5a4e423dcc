import { type Metric, parseSchema } from '@oasis/wire';
import { expect, it } from 'vitest';
import { angleOf } from '../panels/map/angle.ts';
import { findPosition } from './positions.ts';

const number = (name: string, unit?: string) => ({ name, type: 'real64', ...(unit && { unit }) });
function schema(...metrics: object[]) {
  return parseSchema({ name: 'P', uuid: 'u', version: '1.0', metrics });
}
const found = (...metrics: object[]) => findPosition(schema(...metrics).metrics as readonly Metric[]);

it('finds latitude and longitude by name and unit, with the heading beside them', () => {
  expect(
    found(
      number('latitude', 'deg'),
      number('longitude', 'deg'),
      number('yaw', 'deg'),
      number('heading', 'rad'),
    ),
  ).toEqual({ latitude: 'latitude', longitude: 'longitude', heading: 'heading' });
  expect(found(number('gps_lat', 'deg'), number('gps_lon', 'deg'))).toEqual({
    latitude: 'gps_lat',
    longitude: 'gps_lon',
  });
  expect(found(number('lat'), number('lng'))).toEqual({ latitude: 'lat', longitude: 'lng' });
});

it('takes those that belong together, also within a struct', () => {
  const struct = {
    name: 'position',
    type: { struct: { name: 'S', members: [number('latitude', 'rad'), number('longitude', 'rad')] } },
  };
  expect(found(number('home_lat', 'deg'), struct)).toEqual({
    latitude: 'position.latitude',
    longitude: 'position.longitude',
  });
});

it('takes no other numbers', () => {
  expect(found(number('latitude', 'deg'))).toBeUndefined();
  expect(found(number('latency', 'ms'), number('longest', 'ms'))).toBeUndefined();
  expect(found(number('lat', 'ms'), number('lon', 'ms'))).toBeUndefined();
  expect(found(number('lateral_slip', 'deg'), number('longitudinal_slip', 'deg'))).toBeUndefined();
});

it('converts radians', () => {
  const target = { node: 'drone 7', instance: 'gps' };
  const known = schema(number('lat', 'rad'), number('lon', 'deg'));
  expect(angleOf(target, 'lat', known)).toMatch(/\.lat in \[deg\]$/);
  expect(angleOf(target, 'lon', known)).toMatch(/gps\.lon$/);
});
