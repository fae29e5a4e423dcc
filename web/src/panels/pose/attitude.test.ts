import { describe, expect, it } from 'vitest';
import { anglesOf, attitudeOf, axesOf, type Quaternion } from './attitude.ts';

/** Quaternions (x, y, z, w), and roll, pitch and yaw by `Rotation.from_quat(q).as_euler('ZYX')` of SciPy 1.17. */
const CASES: readonly (readonly [number[], number[]])[] = [
  [
    [0, 0, 0, 1],
    [0, 0, 0],
  ],
  [
    [0.1, 0.2, 0.3, 0.9],
    [19.440034828, 18.408480171, 40.049727766],
  ],
  [
    [-0.5, 0.5, -0.5, 0.5],
    [-90, 0, -90],
  ],
  [
    [0.7, -0.1, 0.2, -0.3],
    [-128.811384037, -20.438779576, -26.131000545],
  ],
  [
    [0, 0, 1, 0],
    [0, 0, 180],
  ],
  [
    [1, 0, 0, 0],
    [180, 0, 0],
  ],
  [
    [0, Math.SQRT1_2, 0, Math.SQRT1_2],
    [0, 90, 0],
  ],
  [
    [0.5, -0.5, 0.5, 0.5],
    [0, -90, 90],
  ],
  [
    [1e-3, 2e-3, -3e-3, 1],
    [0.113903404, 0.229524293, -0.343545499],
  ],
];

function rotation(parts: readonly number[]): Quaternion {
  const found = attitudeOf(parts);
  if (found.state !== 'known') throw new Error(found.state);
  return found.rotation;
}

it.each(CASES)('has the angles of SciPy for %j', (parts, wanted) => {
  const { roll, pitch, yaw } = anglesOf(rotation(parts));
  [roll, pitch, yaw].forEach((angle, index) => {
    expect(angle).toBeCloseTo(wanted[index], 7);
  });
});

it('has the axes of SciPy', () => {
  const wanted = [
    [0.8412698412698413, -0.41269841269841273, 0.34920634920634924],
    [-0.031746031746031744, -0.6825396825396824, -0.7301587301587302],
    [0.5396825396825398, 0.6031746031746033, -0.5873015873015873],
  ];
  axesOf(rotation([0.7, -0.1, 0.2, -0.3])).forEach((axis, index) => {
    axis.forEach((value, part) => {
      expect(value).toBeCloseTo(wanted[index][part], 12);
    });
  });
});

describe('a sampled quaternion', () => {
  it('is normalized, however large or small its parts are', () => {
    for (const factor of [1, 2, 1e200, 1e-200, Number.MAX_VALUE]) {
      const found = attitudeOf([0, 0, factor, 0]);
      expect(found).toEqual({ state: 'known', rotation: [0, 0, 1, 0], length: factor });
    }
    expect(attitudeOf([3e-320, 0, 0, 3e-320])).toMatchObject({ state: 'known' });
  });

  it('is unknown with a part that is not finite, and no rotation if it is 0', () => {
    expect(attitudeOf([0, 0, Number.NaN, 1]).state).toBe('unknown');
    expect(attitudeOf([0, 0, Number.POSITIVE_INFINITY, 1]).state).toBe('unknown');
    expect(attitudeOf([]).state).toBe('unknown');
    expect(attitudeOf([0, -0, 0, 0]).state).toBe('zero');
  });
});
