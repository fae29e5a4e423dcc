import { expect, it } from 'vitest';
import { fitNumber } from './fit.ts';
import { formatInteger, formatReal } from './number.ts';

const integer = (value: number | bigint, room: number) =>
  fitNumber(value, formatInteger(value), room).replaceAll('\u202f', ' ');
const real = (value: number, room: number) =>
  fitNumber(value, formatReal(value), room).replaceAll('\u202f', ' ');

it('leaves a number as it is where there is room', () => {
  expect(integer(1_234_567, 9)).toBe('1 234 567');
  expect(real(Math.PI, 8)).toBe('3.14159');
});

it('takes away decimals first, and never the figures that matter', () => {
  expect(real(Math.PI, 5)).toBe('3.142');
  expect(real(-Math.PI, 6)).toBe('\u22123.142');
  expect(real(123.456, 4)).toBe('123');
  expect(real(0.123456, 6)).toBe('0.1235');
});

it('goes over to thousands where the whole number has no room', () => {
  expect(integer(1_234_567, 6)).toBe('1.23 M');
  expect(integer(999_999, 5)).toBe('1.00 M');
  expect(integer(-15_300n, 6)).toBe('\u221215.3 k');
  expect(integer(-15_300n, 5)).toBe('\u221215 k');
  expect(integer(18_446_744_073_709_551_615n, 8)).toBe('18.4 E');
  expect(real(123_456.7, 5)).toBe('123 k');
});

it('writes small and very large numbers with an exponent', () => {
  expect(real(0.000123456, 6)).toBe('1.2e\u22124');
  expect(real(-1.7e-9, 5)).toBe('\u22122e\u22129');
  expect(real(1.23456e30, 7)).toBe('1.23e30');
  expect(real(12.345, 2)).toBe('12');
  expect(real(5, 2)).toBe('5');
  expect(real(0, 1)).toBe('0');
  expect(real(0.001234, 6)).toBe('0.0012');
});

it('never shows a part of a number', () => {
  expect(fitNumber(Number.NaN, 'NaN', 1)).toBe('\u2026');
  expect(integer(123, 2)).toBe('\u2026');
  expect(integer(123_456, 4)).toBe('\u2026');
  for (let room = 1; room < 12; room++)
    for (const value of [123_456_789, 0.000123456, -98.7654321, 1e-12, 4.2e22])
      expect(real(value, room).replaceAll(/[. ]/g, '').length).toBeLessThanOrEqual(room);
});
