import { describe, expect, it } from 'vitest';
import type { PoseTrack } from '../../series/pose_track.ts';
import { boundsOf, heightOf, sphereOf, toView, type Vector } from './frame.ts';
import { LocalFrame } from './local_frame.ts';
import { preparePoses } from './pose_drawing.ts';
import { segmentsOf } from './segments.ts';

const PALETTE = { line: '#000000', grid: '#111111' } as Parameters<typeof preparePoses>[1];

function track(places: readonly Vector[], broken: readonly number[] = []): PoseTrack {
  const column = (axis: number) => Float64Array.from(places, (place) => place[axis]);
  return {
    times: Float64Array.from(places, (_, index) => index),
    xs: column(0),
    ys: column(1),
    zs: column(2),
    quaternion: [],
    breaks: Uint8Array.from(places, (_, index) => (index === 0 || broken.includes(index) ? 1 : 0)),
    unplaced: 0,
  };
}

const PLAIN_FRAME = new LocalFrame([0, 0, 0], 1);
const RED = [[255, 0, 0]];

describe('the lines of a trail', () => {
  const places: Vector[] = [0, 1, 2, 3, 4].map((x) => [x, 0, 0]);

  it('lead from each position to the next one', () => {
    const { lines, lineColors, dots } = segmentsOf(track(places), 'z', PLAIN_FRAME, [0, 4], RED);
    expect([...lines]).toEqual([0, 1, 2, 3].flatMap((x) => [x, 0, 0, x + 1, 0, 0]));
    expect([...lineColors.subarray(0, 3)]).toEqual([1, 0, 0]);
    expect(dots.length).toBe(0);
  });

  it('lead over no gap, and a position alone is a dot', () => {
    const { lines, dots } = segmentsOf(track(places, [2, 3]), 'z', PLAIN_FRAME, [0, 4], RED);
    expect([...lines]).toEqual([0, 0, 0, 1, 0, 0, 3, 0, 0, 4, 0, 0]);
    expect([...dots]).toEqual([2, 0, 0]);
  });

  it('begin at the time that is drawn, and have its colors', () => {
    const colors = [
      [0, 0, 0],
      [255, 255, 255],
    ];
    const { lines, lineColors } = segmentsOf(track(places), 'z', PLAIN_FRAME, [2, 4], colors);
    expect([...lines]).toEqual([2, 0, 0, 3, 0, 0, 3, 0, 0, 4, 0, 0]);
    expect([...lineColors]).toEqual([0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
  });
});

describe('what is drawn', () => {
  const drawn = (places: readonly Vector[]) =>
    preparePoses(
      { poses: [{ track: track(places), name: 'a', color: '#ff0000' }], up: 'z', unit: 'm', times: [0, 9] },
      PALETTE,
    );

  it.each([
    ['huge', 1e15, 1],
    ['tiny', 0, 1e-300],
    ['far from 0', 4e12, 1e-3],
    ['enormous', 0, Number.MAX_VALUE],
  ])('keeps differences of %s coordinates exact for numbers of 32 bits', (_, offset, step) => {
    const { trails, ground, bodies } = drawn([
      [offset, 0, 0],
      [offset + step, 0, 0],
    ]);
    // The newest position is the origin, and the size of all is the unit.
    const [from, , , to] = trails[0].lines;
    expect(to).toBe(0);
    expect(from).toBeLessThan(-0.9);
    expect(from).toBeGreaterThan(-2.1);
    expect(ground?.lines.flatMap(({ ends }) => ends).every(Number.isFinite)).toBe(true);
    expect(bodies[0].place.every(Number.isFinite)).toBe(true);
  });

  it('is one place if only denormal numbers differ', () => {
    const { trails, local } = drawn([
      [0, 0, 0],
      [5e-324, 0, 0],
    ]);
    expect(local.size).toBe(1);
    for (const part of trails[0].lines) expect(part).toBeCloseTo(0, 30);
  });

  it('is nothing without a position', () => {
    expect(drawn([])).toMatchObject({ bounds: undefined, ground: undefined, bodies: [] });
  });

  it('has a ground at 0 if that is near, else at the lowest position', () => {
    const heights = (low: number) =>
      drawn([
        [0, 0, low],
        [10, 0, low + 2],
      ]).ground?.height;
    expect(heights(1)).toBe(0);
    expect(heights(-3)).toBe(0);
    expect(heights(1000)).toBe(1000);
    expect(drawn([[5, 5, 5]]).ground).toMatchObject({ height: 5, spacing: 0.5 });
  });

  it('has lines of the ground at round places', () => {
    const ground = drawn([
      [103, 0, 0],
      [97, 0, 0],
    ]).ground;
    expect(ground?.spacing).toBe(1);
    // The local frame begins at 97, and 6 is its unit.
    const places = ground?.lines.slice(0, 25).map(({ ends }) => 97 + 6 * ends[0]) ?? [];
    for (const place of places) expect(Math.abs(place - Math.round(place))).toBeLessThan(1e-9);
    expect(ground?.lines.filter(({ isZero }) => isZero).length).toBe(1);
  });
});

describe('a frame', () => {
  it('has the axis up that somebody wants, and stays right-handed', () => {
    expect(toView('z', [1, 2, 3])).toEqual([1, 2, 3]);
    expect(toView('y', [1, 2, 3])).toEqual([1, -3, 2]);
    expect(toView('down', [1, 2, 3])).toEqual([2, 1, -3]);
    expect(heightOf('down', 7)).toEqual(['z', -7]);
    expect(heightOf('y', 7)).toEqual(['y', 7]);
  });

  it('has the bounds of all places, and a finite sphere around them', () => {
    expect(boundsOf([])).toBeUndefined();
    expect(
      boundsOf([
        [1, 5, -1],
        [3, 2, 0],
      ]),
    ).toEqual({ low: [1, 2, -1], high: [3, 5, 0] });
    const most = Number.MAX_VALUE;
    expect(sphereOf({ low: [-most, -most, -most], high: [most, most, most] })).toEqual({
      middle: [0, 0, 0],
      radius: most,
    });
  });
});
