import { expect, it } from 'vitest';
import { colorByMetric, colorOf } from './tracks.ts';

const track = (node: string, instance: string) => ({
  target: { node, instance },
  latitude: 'lat',
  longitude: 'lon',
});

it('means the same of each node by an expression of the first', () => {
  const tracks = [track('a', 'gps'), track('b', 'nav')];
  const color = 'a/gps.speed * a/battery.voltage + c/wind.speed';
  expect(colorOf(color, tracks, tracks[0])).toBe(color);
  expect(colorOf(color, tracks, tracks[1])).toBe('b/nav.speed * b/battery.voltage + c/wind.speed');
});

it('tells instances of one node apart', () => {
  const tracks = [track('a', 'one'), track('a', 'two')];
  expect(colorOf(colorByMetric(tracks, 'speed'), tracks, tracks[1])).toBe('a/two.speed');
  expect(colorOf('no expression (', tracks, tracks[1])).toBe('no expression (');
});
