import { expect, it } from 'vitest';
import { unwrap } from '../../series/track.ts';
import {
  centered,
  EARTH,
  fitted,
  type MapView,
  metersPerPixel,
  panned,
  project,
  turnsOf,
  unproject,
  wrapped,
  zoomed,
} from './projection.ts';

const kinds = [
  { kind: 'mercator', up: 0 },
  { kind: 'north', up: 30 },
  { kind: 'south', up: -120 },
] as const;

it('finds a place again that it has projected', () => {
  for (const view of kinds) {
    for (let longitude = -179; longitude < 180; longitude += 17) {
      for (let latitude = -83; latitude <= 83; latitude += 11) {
        const [east, north] = unproject(view, project(view, [longitude, latitude]));
        expect(east).toBeCloseTo(longitude, 8);
        expect(north).toBeCloseTo(latitude, 8);
      }
    }
  }
});

it('has north above and east to the right in the middle, in each projection', () => {
  for (const view of kinds) {
    const latitude = view.kind === 'south' ? -85 : view.kind === 'north' ? 85 : 48;
    const [x, y] = project(view, [view.up, latitude]);
    expect(project(view, [view.up, latitude + 0.1])[1]).toBeGreaterThan(y);
    expect(project(view, [view.up + 0.1, latitude])[0]).toBeGreaterThan(x);
  }
});

it('measures a pixel as long as two places say', () => {
  for (const [middle, kind] of [
    [48, 'mercator'],
    [-70, 'mercator'],
    [89, 'north'],
    [-86, 'south'],
  ] as const) {
    const view = fitted(
      [
        [
          [10, middle - 0.001],
          [10, middle + 0.001],
        ],
      ],
      400,
      400,
    );
    expect(view.kind).toBe(kind);
    const pixels =
      (project(view, [10, middle + 0.0005])[1] - project(view, [10, middle - 0.0005])[1]) * view.scale;
    const meters = (EARTH * 0.001 * Math.PI) / 180;
    expect((Math.abs(pixels) * metersPerPixel(view)) / meters).toBeCloseTo(1, 4);
  }
});

it('keeps a track in one piece that crosses the antimeridian', () => {
  const longitudes = unwrap(Float64Array.of(179.9, 179.99, -179.95, -179.9, 179.95));
  expect([...longitudes].map((each) => Number(each.toFixed(2)))).toEqual([
    179.9, 179.99, 180.05, 180.1, 179.95,
  ]);
  // Another one on its other side is next to it.
  const view = fitted(
    [
      [
        [179.9, 1],
        [180.1, 2],
      ],
      [[-179.8, 1]],
    ],
    300,
    300,
  );
  expect(metersPerPixel(view) * 300).toBeLessThan(150_000);
  expect(turnsOf(view, 300, [project(view, [-180, 0])[0], project(view, [-179.8, 0])[0]])).toHaveLength(1);
});

it('goes over the pole and comes back', () => {
  let view = centered({ kind: 'mercator', up: 0, x: 0, y: 0, scale: 5000 }, [20, 80]);
  for (let step = 0; step < 1000 && !(view.kind === 'north' && view.y > 0); step++)
    view = panned(view, 0, 40);
  expect(view.kind).toBe('north');
  const [longitude] = unproject(view, [view.x, view.y]);
  // On the other side of the pole.
  expect(Math.abs(wrapped(longitude - 20))).toBeCloseTo(180, 3);
  for (let step = 0; step < 300; step++) view = panned(view, 0, 40);
  expect(view.kind).toBe('mercator');
});

it('zooms around the pointer, within bounds', () => {
  const view: MapView = centered({ kind: 'mercator', up: 0, x: 0, y: 0, scale: 1000 }, [11, 48]);
  const under = (shown: MapView) =>
    unproject(shown, [shown.x + 50 / shown.scale, shown.y - 20 / shown.scale]);
  const near = zoomed(view, 4, 50, 20);
  expect(under(near)[0]).toBeCloseTo(under(view)[0], 9);
  expect(under(near)[1]).toBeCloseTo(under(view)[1], 9);
  expect(metersPerPixel(zoomed(view, 1e12))).toBeGreaterThan(0.003);
  expect(zoomed(view, 1e-12).scale).toBe(40);
});

it('shows a small track as large as a large one, down to ten meters', () => {
  const across = (meters: number) => {
    const north = (meters / EARTH / Math.PI) * 180;
    const view = fitted(
      [
        [
          [11, 48],
          [11, 48 + north],
        ],
      ],
      800,
      400,
    );
    return metersPerPixel(view) * 400;
  };
  expect(across(70)).toBeCloseTo(87.5, 0);
  expect(across(2)).toBeCloseTo(10, 0);
});

it('shows a place alone with its surroundings, and the earth without places', () => {
  const view = fitted([[[11, 48]]], 400, 400);
  expect(metersPerPixel(view) * 400).toBeCloseTo(200, -1);
  expect(fitted([], 400, 400).scale).toBe(80);
});
