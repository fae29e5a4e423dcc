import { expect, it } from 'vitest';
import { valueTicks } from '../../charts/value_ticks.ts';
import { formatFigure } from '../../format/axis.ts';
import { tickLabels } from '../../format/tick_labels.ts';
import { ValueScale } from '../../series/value_scale.ts';
import { limitsFor, withSettings } from './line_look.ts';
import type { DescribedLine } from './lines.ts';
import { judgeBy } from './settings.ts';

const LINE: DescribedLine = {
  id: 'plant-7/engine temperature',
  metric: 'temperature',
  label: 'Temperature',
  unit: 'Cel',
  isCounter: false,
  isStep: false,
  color: 0,
  doc: '',
  limits: [{ value: 100, severity: 'alarm' }],
};

it('shows lines in the unit that somebody wants, with their limits, and leaves others alone', () => {
  const speed = { ...LINE, id: 'speed', unit: 'm/s', limits: [] };
  const [hot, fast] = withSettings([LINE, speed], { unit: '[degF]', decimals: 1 });
  expect(hot).toMatchObject({ unit: '[degF]', nativeUnit: 'Cel', decimals: 1, isUnitFixed: true });
  expect(limitsFor([hot], {})[0].value).toBeCloseTo(212);
  expect(fast).toMatchObject({ unit: 'm/s', decimals: 1 });
  expect(fast.conversion).toBeUndefined();
});

it('converts rates without the zero of their scale', () => {
  const [rate] = withSettings([{ ...LINE, isCounter: true }], { unit: 'K' });
  expect(rate.conversion).toEqual({ factor: 1, offset: 0 });
});

it('colors lines by their identifier, with colors that exist', () => {
  expect(withSettings([LINE], { colors: { [LINE.id]: 13 } })[0].color).toBe(3);
  expect(withSettings([LINE], { colors: { other: 4 } })[0].color).toBe(0);
});

it('replaces the limits of metrics by thresholds, also by none', () => {
  const threshold = { value: 90, severity: 'warn', side: 'above', isZone: true } as const;
  expect(limitsFor([LINE], undefined)).toEqual(LINE.limits);
  expect(limitsFor([LINE], { thresholds: [] })).toEqual([]);
  expect(limitsFor([LINE], { thresholds: [threshold] })).toEqual([
    { value: 90, severity: 'warn', zone: 'above' },
  ]);
});

it('judges a value by the worst threshold that it passes', () => {
  const thresholds = [
    { value: 10, severity: 'warn', side: 'above' },
    { value: 20, severity: 'alarm', side: 'above' },
    { value: 0, severity: 'alarm', side: 'below' },
  ] as const;
  expect([-1, 0, 10, 11, 21, Number.NaN].map((value) => judgeBy(thresholds, value))).toEqual([
    'alarm',
    undefined,
    undefined,
    'warn',
    'alarm',
    undefined,
  ]);
});

it('writes numbers with the chosen digits, in the chosen unit however large they are', () => {
  const look = { unit: 'm', isCounter: false };
  expect(formatFigure(1234.567, { ...look, decimals: 1 })).toBe('1\u202f234.6\u202fm');
  expect(formatFigure(-0.5, { ...look, decimals: 0 })).toMatch(/^\u2212[01]\u202fm$/);
  expect(formatFigure(5_000_000, { unit: 'By', isCounter: false, isUnitFixed: true, decimals: 0 })).toBe(
    '5\u202f000\u202f000\u202fB',
  );
  expect(formatFigure(5_000_000, { unit: 'By', isCounter: true })).toBe('4.77 MiB/s');
  // Ticks have as many digits as they need, whatever is chosen.
  const ticks = valueTicks(new ValueScale(0.2, 0.3), 1 / 2);
  expect(tickLabels(ticks, { ...look, decimals: 3 })).toEqual(
    ['0.20', '0.25', '0.30'].map((text) => `${text}\u202fm`),
  );
});
