import { expect, it } from 'vitest';
import { cycleIn } from './cycle.ts';

it('has the dashboard of the address and those of the query', () => {
  expect(cycleIn('night', '?kiosk&cycle=day&cycle=a%2Cb&every=20')).toEqual({
    names: ['night', 'day', 'a,b'],
    intervalMs: 20_000,
  });
});

it('needs another dashboard', () => {
  for (const search of ['', '?kiosk', '?cycle', '?cycle=&every=5'])
    expect(cycleIn('night', search)).toBeUndefined();
});

it('is bounded in number and time, whatever is written', () => {
  const many = Array.from({ length: 100 }, (_, index) => `cycle=${index}`).join('&');
  expect(cycleIn('night', `?${many}`)?.names).toHaveLength(20);
  const intervals = ['', '0', '-3', '1', '1e9', 'x', 'NaN'].map(
    (every) => cycleIn('a', `?cycle=b&every=${every}`)?.intervalMs,
  );
  expect(intervals).toEqual([30_000, 30_000, 5000, 5000, 3_600_000, 30_000, 30_000]);
});
