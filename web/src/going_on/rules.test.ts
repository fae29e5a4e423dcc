import { expect, it } from 'vitest';
import { MOST_MOVES, placesToTry, REMEMBERED_MS, recent, waitBefore } from './rules.ts';

const NOW = 1_000_000_000;
const least = () => 0;
const most = () => 0.999_999;

function pages(...addresses: string[]) {
  return addresses.map((address) => ({ name: address, address }));
}

function stops(count: number, at = NOW - 1000) {
  return Array.from({ length: count }, (_, index) => ({ address: `http://left-${index}`, at }));
}

it('waits about a second, and by chance', () => {
  expect(waitBefore([], NOW, least)).toBe(700);
  expect(waitBefore([], NOW, most)).toBeCloseTo(1700, 0);
});

it('waits twice as long after each move, and stays after some', () => {
  const waits = Array.from({ length: MOST_MOVES + 1 }, (_, moves) => waitBefore(stops(moves), NOW, least));
  expect(waits).toEqual([700, 1400, 2800, 5600, 11_200, 22_400, undefined]);
  expect(waitBefore(stops(MOST_MOVES - 1), NOW, most)).toBeLessThanOrEqual(60_000);
  expect(waitBefore(stops(100, NOW - REMEMBERED_MS), NOW, least)).toBe(700);
});

it('forgets stops after ten minutes, and those of the future', () => {
  const old = { address: 'http://old', at: NOW - REMEMBERED_MS };
  const future = { address: 'http://future', at: NOW + 1 };
  expect(recent([old, ...stops(20), future], NOW)).toHaveLength(MOST_MOVES);
  expect(recent([old, future], NOW)).toEqual([]);
});

it('goes neither back to a DAC that it has just left, nor to itself', () => {
  const all = pages('http://own', 'http://left-0', 'http://b');
  expect(placesToTry(all, stops(1), 'http://own', NOW, least)).toEqual(['http://b']);
  const later = placesToTry(all, stops(1, NOW - 60_000), 'http://own', NOW, least);
  expect(later.sort()).toEqual(['http://b', 'http://left-0']);
});

it('never leaves TLS', () => {
  const all = pages('http://b', 'https://c');
  expect(placesToTry(all, [], 'https://own', NOW, least)).toEqual(['https://c']);
  expect(placesToTry(all, [], 'http://own', NOW, least)).toHaveLength(2);
});

it('spreads pages over all places, and tries three at once', () => {
  const all = pages(...Array.from({ length: 16 }, (_, index) => `http://dac-${index}`));
  const firsts = new Set<string>();
  for (let page = 0; page < 500; page++) {
    const tried = placesToTry(all, [], 'http://own', NOW, Math.random);
    expect(new Set(tried).size).toBe(3);
    firsts.add(tried[0]);
  }
  expect(firsts.size).toBe(16);
});
