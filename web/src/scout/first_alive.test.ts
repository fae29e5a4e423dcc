import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { firstAlive } from './first_alive.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Answers after a time: positive for a server that works. Notes who was asked when. */
function servers(answers: Record<string, number>) {
  const asked: [string, number][] = [];
  const began = Date.now();
  const isAlive = (address: string) => {
    asked.push([address, Date.now() - began]);
    const after = answers[address];
    return new Promise<boolean>((resolve) => setTimeout(() => resolve(after > 0), Math.abs(after)));
  };
  return { asked, isAlive };
}

it('returns the first that answers, and asks no other one', async () => {
  const { asked, isAlive } = servers({ a: 20, b: 10 });
  const found = firstAlive(['a', 'b'], isAlive);
  await vi.runAllTimersAsync();
  expect(await found).toBe('a');
  expect(asked).toEqual([['a', 0]]);
});

it('asks the next one at once after a failure, and soon if one is silent', async () => {
  const { asked, isAlive } = servers({ refuses: -5, silent: -1000, works: 30 });
  const found = firstAlive(['refuses', 'silent', 'works'], isAlive);
  await vi.runAllTimersAsync();
  expect(await found).toBe('works');
  expect(asked).toEqual([
    ['refuses', 0],
    ['silent', 5],
    ['works', 255],
  ]);
});

it('returns nothing if none is alive', async () => {
  const { isAlive } = servers({ a: -700, b: -10 });
  const found = firstAlive(['a', 'b'], isAlive);
  await vi.runAllTimersAsync();
  expect(await found).toBeUndefined();
  expect(await firstAlive([], isAlive)).toBeUndefined();
});
