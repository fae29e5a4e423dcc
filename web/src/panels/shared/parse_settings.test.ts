import { expect, it } from 'vitest';
import { parseSettings } from './parse_settings.ts';

it('reads settings of a panel', () => {
  const settings = {
    title: 'Motor 1',
    unit: '[degF]',
    decimals: 2,
    min: -10,
    max: 200.5,
    isLogarithmic: true,
    colors: { 'plant-7/engine torque': 3 },
    thresholds: [{ value: 90, severity: 'alarm', side: 'above', isZone: true }],
  };
  expect(parseSettings(settings)).toEqual(settings);
  expect(parseSettings({ thresholds: [] })).toEqual({ thresholds: [] });
});

it('leaves out what is no setting', () => {
  expect(parseSettings('title')).toBeUndefined();
  expect(
    parseSettings({
      title: '  ',
      unit: 'x'.repeat(61),
      decimals: 9,
      min: Number.NaN,
      max: 'high',
      isLogarithmic: 'yes',
      colors: { a: 1.5, b: -1, c: 'red' },
      other: 1,
    }),
  ).toBeUndefined();
  expect(parseSettings({ min: 5, max: 5, decimals: 0 })).toEqual({ decimals: 0 });
});

it('bounds titles, colors and thresholds', () => {
  const threshold = { value: 1, severity: 'warn', side: 'below' };
  const found = parseSettings({
    title: 'x'.repeat(500),
    colors: Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`line ${index}`, index])),
    thresholds: [
      { value: 1, severity: 'bad', side: 'below' },
      ...Array.from({ length: 20 }, () => threshold),
    ],
  });
  expect(found?.title?.length).toBe(100);
  expect(Object.keys(found?.colors ?? {}).length).toBe(100);
  expect(found?.thresholds?.length).toBe(7);
});
