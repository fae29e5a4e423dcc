import { expect, it } from 'vitest';
import type { Vector } from './frame.ts';
import { LocalFrame } from './local_frame.ts';
import { FIRST_VIEW, fitted, needsFit, orbited, PoseProjection, panned, zoomed } from './pose_camera.ts';

const BOUNDS = { low: [10, 20, 0] as Vector, high: [30, 40, 10] as Vector };
const CORNERS = [10, 30].flatMap((x) => [20, 40].flatMap((y) => [0, 10].map((z): Vector => [x, y, z])));
const LOCAL = new LocalFrame([30, 40, 10], 10);

it('shows all of a trail from each direction, wide or narrow', () => {
  for (const [width, height] of [
    [800, 400],
    [200, 600],
  ]) {
    for (let turn = 0; turn < 10; turn++) {
      const view = fitted(orbited(FIRST_VIEW, turn * 77, turn * 31), BOUNDS, width / height);
      const projection = new PoseProjection(view, LOCAL, width, height);
      for (const corner of CORNERS) {
        const [x, y] = projection.pixel(LOCAL.place(corner)) ?? [Number.NaN, Number.NaN];
        expect(x).toBeGreaterThan(0);
        expect(x).toBeLessThan(width);
        expect(y).toBeGreaterThan(0);
        expect(y).toBeLessThan(height);
      }
    }
  }
});

it('looks at the middle, with up above and the right on the right', () => {
  const view = { ...FIRST_VIEW, target: [20, 30, 5] as Vector, distance: 50 };
  const projection = new PoseProjection(view, LOCAL, 400, 200);
  expect(projection.pixel(LOCAL.place(view.target))).toEqual([200, 100]);
  const above = projection.pixel(LOCAL.place([20, 30, 6]));
  expect(above?.[0]).toBeCloseTo(200, 9);
  expect(above?.[1]).toBeLessThan(100);
  // From the south-east the east is on the right.
  expect(projection.pixel(LOCAL.place([21, 30, 5]))?.[0]).toBeGreaterThan(200);
});

it('sees nothing behind the eye', () => {
  const view = { ...FIRST_VIEW, target: [0, 0, 0] as Vector, distance: 1, azimuth: 0, elevation: 0 };
  const projection = new PoseProjection(view, new LocalFrame([0, 0, 0], 1), 100, 100);
  expect(projection.pixel([2, 0, 0])).toBeUndefined();
  expect(projection.pixel([1, 0, 0])).toBeUndefined();
  expect(projection.eye).toEqual([1, 0, 0]);
});

it('moves what is under the pointer by as many pixels', () => {
  const view = fitted(FIRST_VIEW, BOUNDS, 2);
  const moved = panned(view, [30, -20], 400);
  const at = new PoseProjection(moved, LOCAL, 800, 400).pixel(LOCAL.place(view.target));
  expect(at?.[0]).toBeCloseTo(430, 6);
  expect(at?.[1]).toBeCloseTo(180, 6);
});

it('stays above its horizon and within all numbers', () => {
  let view = FIRST_VIEW;
  for (let step = 0; step < 5000; step++) view = zoomed(orbited(panned(view, [9, 9], 100), 9, 50), 10);
  expect(Math.abs(view.elevation)).toBeLessThan(Math.PI / 2);
  expect(view.distance).toBeGreaterThan(0);
  for (let step = 0; step < 5000; step++) view = zoomed(panned(view, [9, -9], 100), 0.1);
  expect([...view.target, view.distance, view.azimuth].every(Number.isFinite)).toBe(true);
});

it('is fitted again if something leaves it, or if it has become far too small', () => {
  const view = fitted(FIRST_VIEW, BOUNDS, 2);
  expect(needsFit(view, BOUNDS, 2)).toBe(false);
  expect(needsFit(view, undefined, 2)).toBe(false);
  expect(needsFit(view, { ...BOUNDS, high: [80, 40, 10] }, 2)).toBe(true);
  expect(needsFit(view, { low: [19, 29, 4], high: [21, 31, 6] }, 2)).toBe(true);
  // A place that does not move is seen from a distance.
  const still = { low: [1e15, 0, 0] as Vector, high: [1e15, 0, 0] as Vector };
  expect(fitted(FIRST_VIEW, still, 2).distance).toBeGreaterThan(1);
});
