import { expect, it } from 'vitest';
import { MAX_FILE, readGeoJson } from './geojson.ts';
import { parseShapes, type Shape } from './shapes.ts';

const read = (json: unknown) => readGeoJson(JSON.stringify(json));
const line = (...coordinates: number[][]) => ({ type: 'LineString', coordinates });
const shapes = (json: unknown) => {
  const found = read(json);
  return 'shapes' in found ? found.shapes : found.problem;
};

it('takes geometries with their names', () => {
  const file = {
    type: 'FeatureCollection',
    features: [
      {
        type: 'Feature',
        properties: { name: 'Runway', width: 45 },
        geometry: line([11, 48], [11.1, 48, 450]),
      },
      {
        type: 'Feature',
        properties: null,
        id: 'home',
        geometry: { type: 'MultiPoint', coordinates: [[11.0000001, 48.1]] },
      },
      { type: 'Feature', properties: {}, geometry: null },
      {
        type: 'Feature',
        geometry: {
          type: 'Polygon',
          coordinates: [
            [
              [0, 0],
              [1, 0],
              [1, 1],
              [0, 0],
            ],
          ],
        },
      },
    ],
  };
  const found = shapes(file);
  expect(found).toEqual([
    { kind: 'line', name: 'Runway', lines: [[11, 48, 11.1, 48]] },
    { kind: 'point', name: 'home', lines: [[11, 48.1]] },
    { kind: 'area', lines: [[0, 0, 1, 0, 1, 1, 0, 0]] },
  ]);
  expect(parseShapes(JSON.parse(JSON.stringify(found)))).toEqual(found);
});

it('continues a line beyond the antimeridian', () => {
  expect(shapes(line([179, 0], [-179, 1], [-178, 1], [179.5, 0]))).toEqual([
    { kind: 'line', lines: [[179, 0, 181, 1, 182, 1, 179.5, 0]] },
  ]);
});

it('shows hidden characters in names', () => {
  const [shape] = shapes({
    type: 'Feature',
    properties: { name: 'a\u202eb' },
    geometry: { type: 'Point', coordinates: [1, 2] },
  }) as readonly Shape[];
  expect(shape.name).toBe('a\\u{202e}b');
});

it('refuses what is none, and what is too much', () => {
  expect(readGeoJson('{')).toEqual({ problem: 'json' });
  expect(readGeoJson(' '.repeat(MAX_FILE + 1))).toEqual({ problem: 'large' });
  for (const json of [
    null,
    7,
    {},
    { type: 'Topology' },
    { type: 'Feature', geometry: 7 },
    { type: 'FeatureCollection', features: {} },
    { type: 'Point', coordinates: ['1', 2] },
    { type: 'Point', coordinates: [1] },
    { type: 'Point', coordinates: [1, 91] },
    { type: 'Point' },
    line([1, 2]),
    { type: 'Polygon', coordinates: [] },
    { type: 'Polygon', coordinates: [7] },
  ])
    expect(read(json)).toEqual({ problem: 'geojson' });
  let nested: object = { type: 'Point', coordinates: [1, 2] };
  for (let depth = 0; depth < 50; depth++) nested = { type: 'GeometryCollection', geometries: [nested] };
  expect(read(nested)).toEqual({ problem: 'geojson' });
  expect(read({ type: 'FeatureCollection', features: [] })).toEqual({ problem: 'empty' });
  const many = { type: 'MultiPoint', coordinates: Array.from({ length: 2001 }, () => [1, 2]) };
  expect(read(many)).toEqual({ problem: 'many' });
  const long = line(...Array.from({ length: 9000 }, (_, index) => [index / 100, 1.123456]));
  expect(read(long)).toEqual({ problem: 'large' });
});

it('takes valid shapes of a layout only', () => {
  const good = { kind: 'point', lines: [[1, 2]] };
  expect(
    parseShapes([
      good,
      7,
      { kind: 'script', lines: [[1, 2]] },
      { kind: 'point', lines: [[1, Number.NaN]] },
      { kind: 'point', lines: [['1', 2]] },
      { kind: 'line', lines: [[1, 2]] },
      { kind: 'area', lines: [[1, 2, 3]] },
      { kind: 'point', lines: [] },
    ]),
  ).toEqual([good]);
  expect(parseShapes({})).toBeUndefined();
  expect(parseShapes([])).toBeUndefined();
});
