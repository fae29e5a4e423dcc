import { expect, it } from 'vitest';
import { trackOf } from './track.ts';

function track(rows: readonly (readonly [east: number, north: number, isBroken?: number, color?: number])[]) {
  return trackOf({
    times: Float64Array.from(rows, (_, index) => index),
    longitudes: Float64Array.from(rows, ([east]) => east),
    latitudes: Float64Array.from(rows, ([, north]) => north),
    headings: undefined,
    colors: Float64Array.from(rows, ([, , , color = 0]) => color),
    breaks: Uint8Array.from(rows, ([, , isBroken = 0]) => isBroken),
  });
}

it('leaves out what is no place, and draws no line over it', () => {
  const found = track([
    [1, 1],
    [2, 1],
    [Number.NaN, 1],
    [3, 1],
    [3, 91],
    [4, 1, 1],
    [5, 1],
  ]);
  expect([...found.longitudes]).toEqual([1, 2, 3, 4, 5]);
  expect([...found.breaks]).toEqual([1, 0, 1, 1, 0]);
  expect([...found.headings]).toEqual([Number.NaN, Number.NaN, Number.NaN, Number.NaN, Number.NaN]);
});

it('keeps the first and the last time of a place, and each color', () => {
  const still = track([
    [1, 1],
    [1, 1],
    [1, 1],
    [1, 1],
    [2, 1],
    [2, 1],
    [2, 1],
  ]);
  expect([...still.times]).toEqual([0, 3, 4, 6]);
  const colored = track([
    [1, 1, 0, 5],
    [1, 1, 0, 6],
    [1, 1, 0, 6],
  ]);
  expect([...colored.times]).toEqual([0, 1, 2]);
  const broken = track([
    [1, 1],
    [1, 1, 1],
    [1, 1],
  ]);
  expect([...broken.breaks]).toEqual([1, 1, 0]);
});

it('continues beyond the antimeridian', () => {
  expect([
    ...track([
      [179, 0],
      [-179, 0],
      [179, 0],
    ]).longitudes,
  ]).toEqual([179, 181, 179]);
});
