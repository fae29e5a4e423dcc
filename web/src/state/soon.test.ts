import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Soon } from './soon.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('runs although it is asked for again and again, and once for many requests', async () => {
  let runs = 0;
  const soon = new Soon(async () => void runs++, 300, 1000);
  for (let time = 0; time < 3000; time += 50) {
    soon.ask();
    await vi.advanceTimersByTimeAsync(50);
  }
  expect(runs).toBe(3);
});

it('runs once more if it is asked for during a run, and not after its end', async () => {
  const finish: (() => void)[] = [];
  const soon = new Soon(() => new Promise((resolve) => finish.push(resolve)), 10);
  soon.ask();
  await vi.advanceTimersByTimeAsync(10);
  soon.ask();
  soon.ask();
  expect(finish).toHaveLength(1);
  finish[0]();
  await vi.advanceTimersByTimeAsync(10);
  expect(finish).toHaveLength(2);
  soon.stop();
  soon.ask();
  finish[1]();
  await vi.advanceTimersByTimeAsync(100);
  expect(finish).toHaveLength(2);
});
