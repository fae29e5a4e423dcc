import { expect, test } from 'vitest';
import { expectedAge } from './age_model.ts';

const way = { rate: 4, toDac: 1, toPage: 40 } as const;

test('a sample through a WebSocket is as old as its way is long', () => {
  expect(expectedAge({ ...way, door: 'websocket' })).toBe(41);
  expect(expectedAge({ ...way, door: 'events' })).toBe(41);
});

test('a long poll loses its advantage beyond half a period', () => {
  expect(expectedAge({ ...way, door: 'wait' })).toBe(41);
  expect(expectedAge({ ...way, door: 'wait', toPage: 153 })).toBe(307);
  // At 1,000 Hz a batch comes every 10 ms.
  expect(expectedAge({ ...way, door: 'wait', rate: 1000 })).toBe(81.5);
});

test('a poll waits for half of its rest, and asks first', () => {
  expect(expectedAge({ ...way, door: 'poll' })).toBe(181);
});

test('the newest sample of a batch waits for half a period', () => {
  expect(expectedAge({ ...way, door: 'websocket', rate: 200 })).toBe(43.5);
  expect(expectedAge({ ...way, door: 'websocket', rate: 50 })).toBe(41);
});
