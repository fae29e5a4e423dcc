import { describe, expect, it } from 'vitest';
import { decodeTargets, encodeTargets } from '../state/address.ts';
import { formatFigure, formatQuantity, scaledDuration } from './axis.ts';
import { shortType } from './name.ts';
import { formatInteger, formatReal, formatRough } from './number.ts';
import { formatAge, formatCursor, formatOffset, formatSpan } from './time.ts';
import { formatUnit, scaledBytes } from './unit.ts';

const plain = (text: string) => text.replaceAll('\u202f', '_').replaceAll('\u2212', '-');

describe('numbers', () => {
  it('have their digits in groups', () => {
    expect([0, 999, 1000, -1234567].map(formatInteger).map(plain)).toEqual([
      '0',
      '999',
      '1_000',
      '-1_234_567',
    ]);
    expect(plain(formatInteger(2n ** 64n - 1n))).toBe('18_446_744_073_709_551_615');
  });

  it('keep their width when they are real', () => {
    const reals = [0, 1, 1.5, 123456.789, 1e-9, -2.5e20, Number.NaN, Number.NEGATIVE_INFINITY];
    expect(reals.map(formatReal).map(plain)).toEqual([
      '0.00000',
      '1.00000',
      '1.50000',
      '123_457',
      '1.00000e-9',
      '-2.50000e20',
      'NaN',
      '-∞',
    ]);
    expect([0.1, 9.999, 10, 99.9, 1234].map(formatRough).map(plain)).toEqual([
      '0.10',
      '10.00',
      '10.0',
      '99.9',
      '1_234',
    ]);
  });
});

describe('times and units', () => {
  it('read like people say them', () => {
    expect([0, -20, 990, 59_990, 61_000, 3_720_000, 200_000_000].map(formatAge)).toEqual([
      '0.0 s',
      '0.0 s',
      '0.9 s',
      '59.9 s',
      '1 min 01 s',
      '1 h 02 min',
      '2 d 7 h',
    ]);
    expect([0.123, -45, 2000].map(formatOffset).map(plain)).toEqual(['+0.12 ms', '-45 ms', '+2.0 s']);
    expect(['By', '{jiffy}', 'Cel', 'm/s', '{req}/s', undefined].map(formatUnit)).toEqual([
      'B',
      'jiffy',
      '°C',
      'm/s',
      'req/s',
      '',
    ]);
    const composed = [
      'KiBy',
      'MBy/s',
      'm/s2',
      'kg.m2.s-3',
      '/min',
      '10*3/uL',
      'kOhm',
      'us',
      'Cel/min',
      '%',
      '1',
    ];
    expect(composed.map(formatUnit)).toEqual([
      'KiB',
      'MB/s',
      'm/s²',
      'kg·m²·s⁻³',
      '1/min',
      '10³/µL',
      'kΩ',
      'µs',
      '°C/min',
      '%',
      '',
    ]);
    expect(['[in_i]', '[degF]', '[psi]', 'kg{wet}', '{a.b/c}/s', 'dB[mW]', '100/s'].map(formatUnit)).toEqual([
      'in',
      '°F',
      'psi',
      'kg wet',
      'a.b/c/s',
      'dB[mW]',
      '100/s',
    ]);
    const quantity = (value: number, unit: string) =>
      formatQuantity(value, unit, false).replaceAll('\u202f', ' ');
    expect([50.1e6, 1500, 12, 0, 3.2e9, -2e6].map((value) => quantity(value, 'ns'))).toEqual([
      '50.1 ms',
      '1.50 \u00b5s',
      '12 ns',
      '0 ns',
      '3.20 s',
      '\u22122 ms',
    ]);
    expect([0.0205, 59.5, 350_735].map((value) => quantity(value, 's'))).toEqual([
      '20.5 ms',
      '59.5 s',
      '4 d 1 h',
    ]);
    expect(scaledDuration(50_100_000n, 'ns')).toBe('50.1\u202fms');
    expect([scaledDuration(42, 'ns'), scaledDuration(5e9, 'Hz'), scaledDuration(60, 's')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect([16_384 * 60_000, 90 * 60_000, 86_400_000].map(formatSpan)).toEqual(['11 d 9 h', '90 min', '1 d']);
    const noon = new Date(2026, 5, 1, 12, 0, 0, 250).getTime();
    expect(formatCursor(noon, 60_000, noon)).toBe('12:00:00.250');
    expect(formatCursor(noon, 3_600_000, noon + 86_400_000)).toBe('2026-06-01 12:00:00');
    expect(scaledBytes(24_684_084, 'KiBy')).toBe('23.5 GiB');
    expect(scaledBytes(5, 'KiBy')).toBeUndefined();
    expect(scaledBytes(5e9, 'Hz')).toBeUndefined();
    expect(['OASIS::System::LinuxProcessorProbe', 'Plain', ''].map(shortType)).toEqual([
      'LinuxProcessorProbe',
      'Plain',
      '',
    ]);
  });
});

describe('quantities', () => {
  const written = (value: number, unit?: string) => plain(formatQuantity(value, unit, false));

  it('name what is infinite, and have a dash for what is not there', () => {
    expect(
      [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN].map((value) => written(value, 'V')),
    ).toEqual(['\u221e', '-\u221e', '\u2013']);
    const fixed = { unit: 'V', isCounter: false, decimals: 2, isUnitFixed: true };
    expect(plain(formatFigure(Number.POSITIVE_INFINITY, fixed))).toBe('\u221e');
    expect(plain(formatFigure(1.7e308, fixed))).toBe('1.7e308_V');
  });

  it('have all digits where four are those of their neighbors', () => {
    expect([1e15, 1e15 + 1, -1e15 - 2].map((value) => written(value))).toEqual([
      '1_000_000_000_000_000',
      '1_000_000_000_000_001',
      '-1_000_000_000_000_002',
    ]);
  });

  it('have an exponent where there is no prefix', () => {
    expect([1.1e-97, 6.1e-101, 5e-324, 1.7976931348623157e308, -1e18].map((value) => written(value))).toEqual(
      ['1.1e-97', '6.1e-101', '4.941e-324', '1.798e308', '-1e18'],
    );
    expect(['s', 'By', 'V'].map((unit) => written(1e300, unit))).toEqual(['1e300_s', '1e300_B', '1e300_V']);
    expect(['s', 'ns', 'V'].map((unit) => written(2e-97, unit))).toEqual(['2e-97_s', '2e-97_ns', '2e-97_V']);
  });
});

describe('a choice in the address', () => {
  it('survives any name', () => {
    const choice = [
      { node: '<img src=x onerror=alert(1)>', instance: 'a/b,c#d%' },
      { node: 'plant-7', instance: 'processor' },
    ];
    expect(decodeTargets(encodeTargets(choice))).toEqual(choice);
    expect(decodeTargets(encodeTargets([]))).toEqual([]);
    expect(decodeTargets('#watch=a%ff/b,c/d')).toEqual([{ node: 'c', instance: 'd' }]);
    expect(decodeTargets('#other')).toBeUndefined();
  });
});
