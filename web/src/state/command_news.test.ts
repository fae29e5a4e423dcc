import { expect, it } from 'vitest';
import { isOldNews } from './command_news.ts';

it('shows the end of a command for a while, of a failed one longer, and a pending one until it ends', () => {
  const shown = (status: 'pending' | 'done' | 'failed', seconds: number) =>
    !isOldNews({ status, since: 1e12 }, 1e12 + 1000 * seconds);
  expect([29, 31].map((seconds) => shown('done', seconds))).toEqual([true, false]);
  expect([31, 299, 301].map((seconds) => shown('failed', seconds))).toEqual([true, true, false]);
  expect(shown('pending', 1e6)).toBe(true);
});
