import { expect, it } from 'vitest';
import type { Sampled } from './even_runs.ts';
import { Fft } from './fft.ts';
import { spectrogramOf } from './spectrogram.ts';
import { spectrumOf } from './spectrum.ts';
import { windowNames } from './transform.ts';

/** The transform by its definition. */
function slowPower(values: Float64Array): number[] {
  return Array.from({ length: values.length / 2 + 1 }, (_, frequency) => {
    let [re, im] = [0, 0];
    values.forEach((value, index) => {
      const angle = (2 * Math.PI * frequency * index) / values.length;
      re += value * Math.cos(angle);
      im -= value * Math.sin(angle);
    });
    return re ** 2 + im ** 2;
  });
}

/** Numbers without a pattern, the same in each run. */
function noise(count: number): Float64Array {
  let seed = 7;
  return Float64Array.from({ length: count }, () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647 - 0.5;
  });
}

/** A sine of 50 Hz and size 3 on a constant of 100, at 1 kHz. */
function sine(count: number, more: Partial<Sampled> = {}): Sampled {
  const times = Float64Array.from({ length: count }, (_, index) => 1e12 + index);
  return {
    times,
    values: times.map((_, index) => 100 + 3 * Math.sin((2 * Math.PI * 50 * index) / 1000)),
    breaks: new Uint8Array(count),
    ...more,
  };
}

function peak(signal: Sampled, size: number, window: (typeof windowNames)[number] = 'hann') {
  const found = spectrumOf(signal, size, window);
  if (!found) return undefined;
  const place = found.amplitudes.indexOf(Math.max(...found.amplitudes));
  return { ...found, frequency: place * found.step, height: found.amplitudes[place] };
}

it.each([4, 8, 64, 1024])('transforms %i numbers as the definition does', (size) => {
  const values = noise(size);
  const slow = slowPower(values);
  new Fft(size).power(values).forEach((power, index) => {
    expect(power).toBeCloseTo(slow[index], 8);
  });
});

it('refuses lengths that are no powers of two', () => {
  for (const size of [0, 2, 6, 1000]) expect(() => new Fft(size)).toThrow(RangeError);
});

it.each(windowNames)('finds frequency and size of a sine with the window %s', (window) => {
  const found = peak(sine(5000), 1024, window);
  expect(found?.frequency).toBeCloseTo(50, 0);
  // A frequency between two steps is lower by what its window loses there.
  expect(found?.height).toBeGreaterThan(window === 'none' ? 1.9 : 2.5);
  expect(found?.height).toBeLessThan(3.01);
  expect(found?.rate).toBe(1000);
  expect(found?.averaged).toBe(8);
});

it('tells the size of a sine exactly with a flat top', () => {
  expect(peak(sine(5000), 4096, 'flattop')?.height).toBeCloseTo(3, 1);
});

it('takes a smaller size if there are fewer samples, and none below 64', () => {
  expect(peak(sine(700), 4096)?.size).toBe(512);
  expect(spectrumOf(sine(63), 4096, 'hann')).toBeUndefined();
  expect(spectrumOf(sine(0), 256, 'hann')).toBeUndefined();
});

it('spans no gap and no unknown value', () => {
  const whole = sine(4000);
  const shifted = { ...whole, times: whole.times.map((time, index) => (index < 2000 ? time : time + 517)) };
  const gap = peak(shifted, 1024);
  expect([gap?.averaged, gap?.leftOut]).toEqual([4, 0]);
  expect(gap?.frequency).toBeCloseTo(50, 0);
  const unknown = peak(
    { ...whole, values: whole.values.map((value, index) => (index === 3500 ? Number.NaN : value)) },
    1024,
  );
  expect([unknown?.averaged, unknown?.leftOut]).toEqual([5, 1]);
  const breaks = new Uint8Array(4000);
  breaks[1000] = breaks[2000] = breaks[3000] = 1;
  expect(peak({ ...whole, breaks }, 4096)?.size).toBe(512);
});

it.each([
  ['a little, as a scheduler moves them', 0.2],
  ['far', 0.8],
])('bears samples that are moved %s', (_, jitter) => {
  const moved = noise(5000);
  const times = Float64Array.from({ length: 5000 }, (_, index) => 1e12 + index + jitter * moved[index]);
  const values = times.map((time) => 3 * Math.sin((2 * Math.PI * 50 * (time - 1e12)) / 1000));
  const found = peak({ times, values, breaks: new Uint8Array(5000) }, 1024, 'flattop');
  expect(found?.frequency).toBeCloseTo(50, 0);
  expect(found?.height).toBeGreaterThan(2.9);
});

it('keeps the size of a high frequency when times are rounded', () => {
  // 5 ms are no multiple of the steps in which a clock offset is known.
  const times = Float64Array.from(
    { length: 4000 },
    (_, index) => 1.76e12 + index * 5 + 0.1234 - (index % 3) * 2e-4,
  );
  const values = times.map((_, index) => 3 * Math.sin((2 * Math.PI * 75 * index) / 200));
  const found = peak({ times, values, breaks: new Uint8Array(4000) }, 1024, 'flattop');
  expect(found?.frequency).toBeCloseTo(75, 0);
  expect(found?.height).toBeCloseTo(3, 2);
});

it('transforms at each of many times, but not across a gap', () => {
  const whole = sine(8000);
  // The frequency doubles in the middle, after a gap of half a second.
  const values = whole.values.map((value, index) =>
    index < 4000 ? value : 3 * Math.sin((2 * Math.PI * 100 * index) / 1000),
  );
  const times = whole.times.map((time, index) => (index < 4000 ? time : time + 500));
  const range = [1e12, 1e12 + 8500] as const;
  const found = spectrogramOf({ times, values, breaks: new Uint8Array(8000) }, range, 512, 'hann');
  if (!found) throw new Error('no spectrogram');
  const { amplitudes, rows, step } = found;
  const peakAt = (time: number) => {
    const column = found.times.findIndex((middle) => middle >= 1e12 + time);
    const of = amplitudes.subarray(column * rows, (column + 1) * rows);
    return of.some(Number.isNaN) ? Number.NaN : of.indexOf(Math.max(...of)) * step;
  };
  // A row has several frequencies.
  expect(peakAt(2000)).toBeCloseTo(50, -1);
  expect(peakAt(7000)).toBeCloseTo(100, -1);
  expect(peakAt(4250)).toBeNaN();
  expect(peakAt(3900)).toBeNaN();
  expect(rows).toBeLessThanOrEqual(256);
  expect(spectrogramOf(sine(10), range, 512, 'hann')).toBeUndefined();
});

it('counts skipped periods apart from gaps, and says that a signal does not change', () => {
  const signal = sine(1000);
  // A periodic probe that took no sample for two periods: none is missing.
  const late = { ...signal, times: signal.times.map((time, index) => time + (index >= 400 ? 2 : 0)) };
  expect(spectrumOf(late, 256, 'hann')).toMatchObject({ skipped: 1, leftOut: 0, constant: undefined });
  const breaks = Uint8Array.from(signal.times, (_, index) => (index === 400 ? 1 : 0));
  expect(spectrumOf({ ...late, breaks }, 256, 'hann')).toMatchObject({ skipped: 0 });
  const still = { ...signal, values: signal.values.map((_, index) => (index === 3 ? Number.NaN : 5)) };
  expect(spectrumOf(still, 256, 'hann')?.constant).toBe(5);
});

it('has the same shape at any size of the signal', () => {
  const usual = spectrumOf(sine(4096), 1024, 'hann');
  for (const size of [1e-300, 1e-97, 1e200, 1e300]) {
    const signal = sine(4096);
    const found = spectrumOf({ ...signal, values: signal.values.map((value) => value * size) }, 1024, 'hann');
    const peaks = [usual, found].map((spectrum) => Math.max(...(spectrum?.amplitudes ?? [])));
    expect(peaks[1] / size).toBeCloseTo(peaks[0], 9);
  }
});

it('reads no segment through an infinite value', () => {
  const signal = sine(4096);
  signal.values[2000] = Number.POSITIVE_INFINITY;
  const found = spectrumOf(signal, 1024, 'hann');
  expect(found?.amplitudes.every(Number.isFinite)).toBe(true);
  expect(found?.averaged).toBeGreaterThan(2);
  const over = spectrogramOf(signal, [1e12, 1e12 + 4096], 1024, 'hann');
  expect(over?.amplitudes.some(Number.isNaN)).toBe(true);
  expect(over?.amplitudes.includes(Number.POSITIVE_INFINITY)).toBe(false);
});
