import { expect, it } from 'vitest';
import { poseTrackOf } from './pose_track.ts';

function trackOf(
  xs: readonly number[],
  { breaks = [] as number[], quaternion = [] as number[], most = 100 } = {},
) {
  return poseTrackOf(
    {
      times: Float64Array.from(xs.keys()),
      position: [Float64Array.from(xs), new Float64Array(xs.length), new Float64Array(xs.length)],
      quaternion: quaternion.length === 0 ? [] : [Float64Array.from(quaternion)],
      breaks: Uint8Array.from(xs, (_, index) => (breaks.includes(index) ? 1 : 0)),
    },
    most,
  );
}

it('leaves out positions that are not finite, counts them, and breaks the trail there', () => {
  const track = trackOf([0, 1, Number.NaN, Number.POSITIVE_INFINITY, 4, 5, Number.NaN]);
  expect([...track.xs]).toEqual([0, 1, 4, 5]);
  expect([...track.breaks]).toEqual([1, 0, 1, 0]);
  expect(track.unplaced).toBe(3);
});

it('keeps the first and the last time of an instance that stands still', () => {
  const track = trackOf([0, 7, 7, 7, 7, 8]);
  expect([...track.times]).toEqual([0, 1, 4, 5]);
  expect([...trackOf([7, 7, 7, 7]).times]).toEqual([0, 3]);
  // A body that turns on the spot does not stand still.
  expect(trackOf([7, 7, 7, 7], { quaternion: [1, 2, 3, 4] }).times.length).toBe(4);
});

it('keeps each gap', () => {
  const track = trackOf([7, 7, 7, 7, 7, 7], { breaks: [3] });
  expect([...track.times]).toEqual([0, 2, 3, 5]);
  expect([...track.breaks]).toEqual([1, 0, 1, 0]);
});

it('has no more poses than wanted, with the newest one and each gap', () => {
  const xs = Array.from({ length: 10_000 }, (_, index) => index);
  const track = trackOf(xs, { breaks: [5001], most: 100 });
  expect(track.times.length).toBeLessThanOrEqual(103);
  expect(track.times.at(-1)).toBe(9999);
  expect(track.breaks[track.times.indexOf(5001)]).toBe(1);
  expect(track.breaks.reduce((sum, each) => sum + each, 0)).toBe(2);
});

it('is empty without samples', () => {
  expect(trackOf([])).toMatchObject({ times: new Float64Array(), unplaced: 0 });
});
