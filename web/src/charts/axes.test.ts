import { expect, it } from 'vitest';
import { CHARACTER, timeSplits, timeTicks, wholeLabels } from './axes.ts';

it('omits time labels that an edge would cut off', () => {
  const begin = new Date(2026, 0, 2, 20, 45, 0).getTime();
  const labels = timeTicks(timeSplits(begin, begin + 20_000, 10_000));
  expect(labels).toEqual(['20:45:00', '20:45:10', '20:45:20']);
  const half = 4 * CHARACTER * 10;
  expect(wholeLabels(labels, [half, 150, 300 - half], 300, 10)).toEqual(labels);
  expect(wholeLabels(labels, [half - 1, 150, 301 - half], 300, 10)).toEqual(['', '20:45:10', '']);
});
