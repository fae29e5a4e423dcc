import { expect, it } from 'vitest';
import { conversion, convert, unitsFor } from './convert.ts';

const from = (value: number, one: string | undefined, other: string | undefined) => {
  const found = conversion(one, other);
  return found && convert(value, found);
};

it('converts values to units of the same dimension', () => {
  expect(from(1, 'km', 'm')).toBeCloseTo(1000);
  expect(from(36, 'km/h', 'm/s')).toBeCloseTo(10);
  expect(from(180, 'deg', 'rad')).toBeCloseTo(Math.PI);
  expect(from(2, 'MiBy', 'kBy')).toBeCloseTo(2097.152);
  expect(from(0.5, undefined, '%')).toBeCloseTo(50);
});

it('converts temperatures by their zero, too', () => {
  expect(from(100, 'Cel', '[degF]')).toBeCloseTo(212);
  expect(from(0, 'K', 'Cel')).toBeCloseTo(-273.15);
  expect(from(-40, '[degF]', 'Cel')).toBeCloseTo(-40);
});

it('converts nothing to another dimension, nor angles to shares', () => {
  expect(conversion('m', 's')).toBeUndefined();
  expect(conversion('deg', '%')).toBeUndefined();
  expect(conversion(undefined, 'rad')).toBeUndefined();
  expect(conversion('m', 'x'.repeat(100))).toBeUndefined();
});

it('offers the units of a value, its own first', () => {
  expect(unitsFor(['m/s'])).toEqual(['m/s', 'km/h', '[mi_i]/h', '[kn_i]']);
  expect(unitsFor(['furlong'])).toEqual(['furlong']);
});
