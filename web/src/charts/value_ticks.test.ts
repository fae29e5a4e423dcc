import { describe, expect, it } from 'vitest';
import { compared } from '../format/compared.ts';
import { formatWithin, tickLabels } from '../format/tick_labels.ts';
import { ValueScale } from '../series/value_scale.ts';
import { ScaleRange } from './scale_range.ts';
import { valueTicks } from './value_ticks.ts';

/** An exact fraction. */
interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

/** The exact value of a double, by doubling it until it is whole. */
function fractionOf(value: number): Fraction {
  let [whole, under] = [value, 1n];
  while (!Number.isInteger(whole)) [whole, under] = [whole * 2, under * 2n];
  return { over: BigInt(whole), under };
}

const PREFIXES: Readonly<Record<string, number>> = { k: 3, M: 6, G: 9, T: 12, P: 15 };

/** Reads a label as people do. */
function readLabel(label: string): Fraction {
  const text = label.replaceAll('\u202f', '').replaceAll('\u2212', '-');
  const [, sign, whole, rest = '', prefix = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?([kMGTP]?)(?:e(-?\d+))?$/.exec(text) ?? [];
  if (whole === undefined) throw new Error(`no number: ${label}`);
  const exponent = Number(power) + (PREFIXES[prefix] ?? 0) - rest.length;
  const digits = BigInt(`${sign}${whole}${rest}`);
  return exponent < 0
    ? { over: digits, under: 10n ** BigInt(-exponent) }
    : { over: digits * 10n ** BigInt(exponent), under: 1n };
}

function minus(one: Fraction, other: Fraction): Fraction {
  return { over: one.over * other.under - other.over * one.under, under: one.under * other.under };
}

/** The quotient of two fractions, to 15 digits. */
function quotient(one: Fraction, other: Fraction): number {
  const [over, under] = [one.over * other.under, one.under * other.over];
  return Number((over * 10n ** 18n) / under) / 1e18;
}

/** Room for six ticks or so. */
const ROOM = 1 / 6;

function axisOf(values: readonly number[]) {
  const [low, high] = new ScaleRange().fit(Math.min(...values), Math.max(...values));
  const scale = new ValueScale(low, high);
  const found = valueTicks(scale, ROOM);
  return {
    low,
    high,
    scale,
    ticks: found.ticks,
    labels: tickLabels(found, { unit: undefined, isCounter: false }),
  };
}

/** Compares an axis with what its labels say, read and placed with exact fractions. */
function checkAxis(values: readonly number[]): void {
  const { low, high, scale, ticks, labels } = axisOf(values);
  expect(Number.isFinite(low) && Number.isFinite(high) && low < high).toBe(true);
  for (const value of values) {
    expect(value >= low && value <= high).toBe(true);
    const exact = quotient(
      minus(fractionOf(value), fractionOf(low)),
      minus(fractionOf(high), fractionOf(low)),
    );
    expect(scale.share(value)).toBeCloseTo(exact, 12);
  }
  expect(new Set(labels).size).toBe(labels.length);
  expect(labels.length).toBeGreaterThan(1);
  expect(labels.length).toBeLessThanOrEqual(1 / ROOM + 1);
  const width = minus(fractionOf(high), fractionOf(low));
  const read = labels.map(readLabel);
  read.forEach((label, index) => {
    expect(ticks[index].share).toBeCloseTo(quotient(minus(label, fractionOf(low)), width), 12);
  });
  // All steps are the same: one, two or five times a power of ten.
  const steps = read.slice(1).map((label, index) => minus(label, read[index]));
  for (const step of steps) expect(step.over * steps[0].under).toBe(steps[0].over * step.under);
  const digits = String((steps[0].over * 10n ** 400n) / steps[0].under).replace(/0+$/, '');
  expect(['1', '2', '5']).toContain(digits);
}

const { MAX_VALUE, MIN_VALUE } = Number;
const plain = (labels: readonly string[]) =>
  labels.map((label) => label.replaceAll('\u202f', ' ').replaceAll('\u2212', '-'));

describe('an axis of values', () => {
  it.each([
    ['tiny', [6.1e-101, 1.1e-97], [0, 1.188e-97], ['0', '2e-98', '4e-98', '6e-98', '8e-98', '1.0e-97']],
    ['denormal', [5e-324, 1e-323, 1.5e-323], [0, 1.5e-323], ['0', '5e-324', '1.0e-323']],
    ['huge', [1e300, 9e300], [0, 9.72e300], ['0', '2e300', '4e300', '6e300', '8e300']],
    ['from end to end', [-MAX_VALUE, MAX_VALUE], [-MAX_VALUE, MAX_VALUE], ['-1e308', '0', '1e308']],
    ['zero', [0], [0, 1], ['0', '0.2', '0.4', '0.6', '0.8', '1.0']],
    ['minus zero', [-0], [0, 1], ['0', '0.2', '0.4', '0.6', '0.8', '1.0']],
    ['a constant', [1e300], [9.5e299, 1.05e300], ['9.6e299', '9.8e299', '1.00e300', '1.02e300', '1.04e300']],
    [
      'a large offset',
      [1e15, 1e15 + 1, 1e15 + 2],
      [1e15 - 0.125, 1e15 + 2.125],
      [
        '1 000 000 000 000 000.0',
        '1 000 000 000 000 000.5',
        '1 000 000 000 000 001.0',
        '1 000 000 000 000 001.5',
        '1 000 000 000 000 002.0',
      ],
    ],
    ['thousands', [8000, 12_000], [7680, 12_320], ['8000', '9000', '10k', '11k', '12k']],
  ])('is true to %s', (_, values, [low, high], labels) => {
    checkAxis(values);
    const found = axisOf(values);
    expect([found.low, found.high].map((end) => end.toPrecision(12))).toEqual(
      [low, high].map((end) => end.toPrecision(12)),
    );
    expect(plain(found.labels)).toEqual(labels);
  });

  it('is true to any two doubles', () => {
    const seed = Date.now() % 2 ** 32;
    const next = random(seed);
    const bits = new DataView(new ArrayBuffer(8));
    const double = () => {
      bits.setUint32(0, next());
      bits.setUint32(4, next());
      const value = bits.getFloat64(0);
      return Number.isFinite(value) ? value : 0;
    };
    for (let count = 0; count < 200; count++) {
      const value = double();
      // Any two, and two that differ in their last digits.
      const near = value + Math.abs(value) * 2 ** -(next() % 52);
      for (const values of [
        [value, double()],
        [value, Number.isFinite(near) ? near : value],
      ]) {
        try {
          checkAxis(values);
        } catch (error) {
          throw new Error(`values ${values}, seed ${seed}: ${error}`);
        }
      }
    }
  });

  it('has labels of bytes and durations at whole steps of their own', () => {
    const labels = (low: number, high: number, unit: string, bytes?: number) =>
      plain(tickLabels(valueTicks(new ValueScale(low, high), ROOM, bytes), { unit, isCounter: false }));
    expect(labels(0, 2.5, 'MiBy', 2 ** 20)).toEqual([
      '0 B',
      '512 KiB',
      '1.0 MiB',
      '1.5 MiB',
      '2.0 MiB',
      '2.5 MiB',
    ]);
    expect(labels(2 ** 30, 2 ** 30 + 4, 'By', 1)).toEqual(
      [4, 5, 6, 7, 8].map((last) => `1 073 741 82${last} B`),
    );
    expect(labels(0, 1e300, 'By', 1)).toEqual([
      '0 B',
      '2e299 B',
      '4e299 B',
      '6e299 B',
      '8e299 B',
      '1.0e300 B',
    ]);
    expect(labels(0, 5e-9, 'By', 1)).toEqual(['0 B', '1e-9 B', '2e-9 B', '3e-9 B', '4e-9 B', '5e-9 B']);
    expect(labels(0, 20_000, 's')).toEqual(['0 s', '5000 s', '10 000 s', '15 000 s', '20 000 s']);
    expect(labels(0, 2500, 'us')).toEqual([
      '0 \u00b5s',
      '500 \u00b5s',
      '1.0 ms',
      '1.5 ms',
      '2.0 ms',
      '2.5 ms',
    ]);
    expect(labels(1e15, 1e15 + 2, 'ns')).toEqual(
      ['0000', '0005', '0010', '0015', '0020'].map((last) => `1 000 000.000000${last} s`),
    );
    expect(labels(0, 5e-100, 's')).toEqual([
      '0 s',
      '1e-100 s',
      '2e-100 s',
      '3e-100 s',
      '4e-100 s',
      '5e-100 s',
    ]);
  });

  it('has a tick at each power of ten that has room, from the smallest to the largest number', () => {
    const labels = (low: number, high: number) =>
      plain(
        tickLabels(valueTicks(new ValueScale(low, high, true), ROOM), { unit: undefined, isCounter: false }),
      );
    expect(labels(1, 1000)).toEqual(['1', '10', '100', '1000']);
    expect(labels(1e-6, 1e6)).toEqual(['1e-6', '0.0001', '0.01', '1', '100', '10k', '1M']);
    expect(labels(MIN_VALUE, MAX_VALUE)).toEqual(['1e-318', '1e-212', '1e-106', '1', '1e106', '1e212']);
    expect(labels(1, 10)).toEqual(['1', '2', '5', '10']);
    expect(labels(3, 4)).toEqual(['3', '4']);
    expect(labels(3.1, 3.9)).toEqual(['3.2', '3.4', '3.6', '3.8']);
  });

  it('compares a value with its limit in digits that differ', () => {
    expect(plain([compared(1e15 + 1, 1e15, 'V')])[0]).toBe(
      '1 000 000 000 000 001.0 V > 1 000 000 000 000 000.0 V',
    );
    expect(plain([compared(95, 80, '%')])[0]).toBe('95% > 80%');
    expect(plain([compared(Number.POSITIVE_INFINITY, 80, 'V')])[0]).toBe('\u221e > 80 V');
    expect(plain([compared(80, 80, 'V')])[0]).toBe('80 V = 80 V');
  });

  it('writes a value with the digits that tell it from others of its range', () => {
    const written = (value: number, low: number, high: number, unit?: string) =>
      plain([formatWithin(value, [low, high], unit)])[0];
    expect(written(1e15 + 1, 1e15, 1e15 + 2)).toBe('1 000 000 000 000 001.0');
    expect(written(1234.5, 0, 2000)).toBe('1235');
    expect(written(Number.POSITIVE_INFINITY, 0, 1)).toBe('\u221e');
    expect(written(Number.NEGATIVE_INFINITY, 1e15, 1e15 + 2)).toBe('-\u221e');
    expect(written(1.1e-97, 6.1e-101, 1.1e-97, 'V')).toBe('1.1e-97 V');
  });
});

describe('a scale of values', () => {
  it('finds values again, without an overflow', () => {
    for (const [low, high] of [
      [-MAX_VALUE, MAX_VALUE],
      [0, MIN_VALUE * 4],
      [1e15, 1e15 + 2],
      [-1e-97, 1e-97],
    ])
      for (const share of [0, 0.25, 0.5, 0.75, 1]) {
        const scale = new ValueScale(low, high);
        expect(scale.share(scale.value(share))).toBe(share);
      }
    const whole = new ValueScale(MIN_VALUE, MAX_VALUE, true);
    expect(whole.value(whole.share(1))).toBeCloseTo(1, 9);
  });

  it('keeps what is far outside of it at a finite place', () => {
    const scale = new ValueScale(0, MIN_VALUE);
    expect(scale.share(MAX_VALUE)).toBe(1000);
    expect(scale.share(Number.NEGATIVE_INFINITY)).toBe(-1000);
    expect(new ValueScale(1, 10, true).share(0)).toBe(-1);
    expect(scale.share(Number.NaN)).toBeNaN();
  });
});

/** Numbers of 32 bits (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
