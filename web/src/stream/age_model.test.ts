import { expect, test } from 'vitest';
import vectors from '../../../vectors/age-on-arrival.json';
import { expectedAge, LINGER_MS } from './age_model.ts';
import type { DoorName } from './doors/door.ts';
import { POLL_REST_MS } from './doors/feed.ts';

test('the vectors are for this page', () => {
  expect(vectors.poll_rest_ms).toBe(POLL_REST_MS);
  expect(vectors.linger_ms).toBe(LINGER_MS);
});

for (const { door, rate, to_dac, to_page, expected } of vectors.cases) {
  test(`by ${door} at ${rate} Hz over ${to_page} ms`, () => {
    const way = { door: door as DoorName, rate, toDac: to_dac, toPage: to_page };
    expect(expectedAge(way)).toBeCloseTo(expected, 9);
  });
}

test('a long poll loses its advantage as soon as requests come back too late', () => {
  const way = { door: 'wait', rate: 4, toDac: 0 } as const;
  expect(expectedAge({ ...way, toPage: 124 })).toBe(124);
  // Half a period is the way, and half a period the wait: twice the way, as the study says.
  expect(expectedAge({ ...way, toPage: 125 })).toBe(250);
});
