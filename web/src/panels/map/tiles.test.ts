import { expect, it } from 'vitest';
import { fitted, unproject } from './projection.ts';
import { isTileAddress, tileOrigin } from './tile_address.ts';
import { tilesOf } from './tiles.ts';

it('takes paths of this server and addresses of others with all three numbers', () => {
  expect(isTileAddress('/tiles/{z}/{x}/{y}.png')).toBe(true);
  expect(isTileAddress('/osm/{z}/{x}/{y}.png?style=1')).toBe(true);
  expect(isTileAddress('https://tile.example.org/{z}/{x}/{y}.png')).toBe(true);
  expect(tileOrigin('/tiles/{z}/{x}/{y}.png')).toBeUndefined();
  expect(tileOrigin('http://[::1]:8080/t/{z}/{x}/{y}')).toBe('http://[::1]:8080');
  for (const text of [
    '/tiles/{z}/{x}.png',
    '//evil.example/{z}/{x}/{y}',
    'https://{z}.example.org/{x}/{y}.png',
    'https://user:word@tiles.example.org/{z}/{x}/{y}.png',
    'https://tiles.example.org:99999/{z}/{x}/{y}.png',
    'ftp://tiles.example.org/{z}/{x}/{y}.png',
    '/\\evil.example/{z}/{x}/{y}',
    'javascript:alert({z}{x}{y})',
    'data:image/png,{z}{x}{y}',
    `/${'a'.repeat(600)}{z}{x}{y}`,
    '/a b/{z}/{x}/{y}',
    7,
    undefined,
  ])
    expect(isTileAddress(text)).toBe(false);
});

it('covers the drawing with the right squares', () => {
  const view = fitted(
    [
      [
        [11.5, 48.1],
        [11.6, 48.2],
      ],
    ],
    600,
    400,
  );
  const tiles = tilesOf('/t/{z}/{x}/{y}.png', view, 600, 400);
  expect(tiles.length).toBeGreaterThan(2);
  expect(tiles.length).toBeLessThan(25);
  for (const { x, y, size, address } of tiles) {
    const [, level, column, row] = /\/t\/(\d+)\/(\d+)\/(\d+)\.png/.exec(address)?.map(Number) ?? [];
    // The upper left corner of a tile, by the definition of the scheme.
    const [longitude, latitude] = unproject(view, [
      view.x + (x - 300) / view.scale,
      view.y - (y - 200) / view.scale,
    ]);
    expect(longitude).toBeCloseTo((column / 2 ** level) * 360 - 180, 6);
    const north = Math.atan(Math.sinh(Math.PI * (1 - (2 * row) / 2 ** level)));
    expect(latitude).toBeCloseTo((north * 180) / Math.PI, 6);
    expect(size).toBeGreaterThan(180);
    expect(size).toBeLessThan(363);
  }
});

it('goes on beyond the antimeridian, and has none at the poles', () => {
  const view = fitted(
    [
      [
        [179, 1],
        [181, 2],
      ],
    ],
    600,
    400,
  );
  const columns = new Set(
    tilesOf('{z}/{x}/{y}', view, 600, 400).map(({ address }) => Number(address.split('/')[1])),
  );
  expect(columns.has(0)).toBe(true);
  expect(Math.max(...columns)).toBeGreaterThan(1);
  const polar = fitted([[[0, 89]]], 600, 400);
  expect(tilesOf('{z}/{x}/{y}', polar, 600, 400)).toEqual([]);
});
