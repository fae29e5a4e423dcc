import { expect, it } from 'vitest';
import { formatLongitude, graticule, scaleBar } from './graticule.ts';
import { fitted, panned } from './projection.ts';

const size = [600, 400] as const;
const labels = (view: Parameters<typeof graticule>[0]) => graticule(view, ...size).map(({ label }) => label);

it('draws a few lines with names at any zoom', () => {
  for (const width of [1e-5, 1e-3, 0.1, 5, 40, 170]) {
    const view = fitted(
      [
        [
          [11, 20],
          [11 + width, 20 + width / 4],
        ],
      ],
      ...size,
    );
    const lines = graticule(view, ...size);
    const [meridians, parallels] = [true, false].map(
      (isMeridian) => lines.filter((line) => line.isMeridian === isMeridian).length,
    );
    expect(meridians).toBeGreaterThan(0);
    expect(meridians).toBeLessThan(9);
    expect(parallels).toBeGreaterThan(0);
    expect(parallels).toBeLessThan(9);
    // The whole earth is there more than once.
    if (width < 100) expect(new Set(lines.map(({ label }) => label)).size).toBe(lines.length);
  }
});

it('names both sides of the antimeridian', () => {
  const view = fitted(
    [
      [
        [178, 10],
        [182, 11],
      ],
    ],
    ...size,
  );
  expect(labels(view)).toEqual(expect.arrayContaining(['178\u00b0\u202fE', '180\u00b0', '178\u00b0\u202fW']));
  expect(formatLongitude(181, 0.5)).toBe('179.0\u00b0\u202fW');
});

it('draws whole circles around a pole, and each meridian once', () => {
  const view = fitted(
    [
      [
        [0, 89],
        [90, 89],
        [180, 89],
        [270, 89],
      ],
    ],
    ...size,
  );
  expect(view.kind).toBe('north');
  const lines = graticule(view, ...size);
  const meridians = lines.filter(({ isMeridian }) => isMeridian).map(({ label }) => label);
  expect(new Set(meridians).size).toBe(meridians.length);
  expect(meridians).toContain('180\u00b0');
  const circle = lines.find(({ isMeridian }) => !isMeridian)?.points ?? [];
  const [first, last] = [circle[0], circle[circle.length - 1]];
  expect(Math.hypot(first[0] - last[0], first[1] - last[1])).toBeLessThan(1e-6);
  // Beside the pole there are a few only.
  expect(graticule(panned(view, 0, 3000), ...size).length).toBeLessThan(40);
});

it('has a bar of a round length', () => {
  const view = fitted(
    [
      [
        [11, 48],
        [11.1, 48.1],
      ],
    ],
    ...size,
  );
  const { pixels, label } = scaleBar(view, 120);
  expect(label).toMatch(/^[125]0*\u202fk?m$/);
  expect(pixels).toBeLessThanOrEqual(120);
  expect(pixels).toBeGreaterThan(40);
});
