import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { HandOver } from '../going_on/hand_over.ts';
import { arrive } from '../state/arrival.ts';
import { otherPages } from '../state/other_pages.ts';
import { connection } from '../state/store.ts';
import { range } from '../state/time.ts';
import type { StreamClient } from '../stream/client.ts';
import { goingOn, goOnWhenLost, mustStay, stay } from './going_on.ts';

const OWN = 'http://hall-1:7070';
const POSITION = { node: 'plant', instance: 'pump', run: 'run-1', sequence: 41, epoch: 'e1', offset: 7 };

/** The first of the addresses at which a DAC works. */
let working: string | undefined;
let isOwnAlive: boolean;
let opened: string[];
let asked: string[][];
let end: () => void;

vi.mock('../state/other_pages.ts', async (original) => ({
  ...(await original<typeof import('../state/other_pages.ts')>()),
  firstAlive: async (addresses: readonly string[]) => {
    asked.push([...addresses]);
    return addresses.find((address) => address === working);
  },
}));
vi.mock('../layout/saved.ts', () => ({
  layoutFragment: async (handOver: HandOver) => `#view=${JSON.stringify(handOver)}`,
}));

const client = { positions: async () => [POSITION] } as unknown as StreamClient;

function lose(): void {
  connection.value = { ...connection.value, phase: 'reconnecting' };
}

beforeEach(() => {
  vi.useFakeTimers();
  [working, isOwnAlive, opened, asked] = ['http://hall-2:7080', false, [], []];
  vi.stubGlobal('location', {
    origin: OWN,
    host: 'hall-1:7070',
    replace: (to: string) => opened.push(to),
  });
  vi.stubGlobal('document', { hidden: false, baseURI: `${OWN}/` });
  vi.stubGlobal('fetch', async () => {
    if (!isOwnAlive) throw new TypeError('refused');
    return new Response('oasis');
  });
  otherPages.value = [{ name: 'hall-2', address: 'http://hall-2:7080' }];
  end = goOnWhenLost(client);
});

afterEach(() => {
  end();
  connection.value = { ...connection.value, phase: 'connecting' };
  otherPages.value = [];
  range.value = { live: true, span: 60_000 };
  stay(false);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('opens a DAC that works after about a second, with layout and positions', async () => {
  lose();
  await vi.advanceTimersByTimeAsync(650);
  expect([goingOn.value.step, asked]).toEqual(['waiting', []]);
  await vi.advanceTimersByTimeAsync(1100);
  expect(goingOn.value).toEqual({ step: 'opening', name: 'hall-2' });
  expect(opened).toHaveLength(1);
  const [address, text] = opened[0].split('#view=');
  expect(address).toBe('http://hall-2:7080/');
  const handOver = JSON.parse(text) as HandOver;
  expect(handOver).toMatchObject({ from: 'hall-1:7070', positions: [POSITION] });
  expect(handOver.trail).toEqual([{ address: OWN, at: handOver.at }]);
});

it('stays if its own DAC comes back, or works although no door opens', async () => {
  lose();
  await vi.advanceTimersByTimeAsync(500);
  connection.value = { ...connection.value, phase: 'connected' };
  await vi.advanceTimersByTimeAsync(5000);
  expect([asked, opened, goingOn.value.step]).toEqual([[], [], 'none']);
  isOwnAlive = true;
  lose();
  await vi.advanceTimersByTimeAsync(5000);
  expect(asked.length).toBeGreaterThan(1);
  expect(opened).toEqual([]);
});

it('looks again until a DAC works', async () => {
  working = undefined;
  lose();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(opened).toEqual([]);
  expect(asked.length).toBeGreaterThan(8);
  expect(asked.length).toBeLessThan(21);
  working = 'http://hall-2:7080';
  await vi.advanceTimersByTimeAsync(2000);
  expect(opened).toHaveLength(1);
});

it('stays if the person wants it, while it is paused, and without other pages', async () => {
  stay(true);
  lose();
  await vi.advanceTimersByTimeAsync(5000);
  stay(false);
  range.value = { live: false, from: 0, to: 1000 };
  await vi.advanceTimersByTimeAsync(5000);
  otherPages.value = [];
  range.value = { live: true, span: 60_000 };
  await vi.advanceTimersByTimeAsync(5000);
  expect([asked, opened]).toEqual([[], []]);
  expect(mustStay.value).toBe(false);
});

it('goes on if the person changes their mind, and stops when they do so again', async () => {
  stay(true);
  lose();
  await vi.advanceTimersByTimeAsync(5000);
  stay(false);
  await vi.advanceTimersByTimeAsync(300);
  stay(true);
  await vi.advanceTimersByTimeAsync(5000);
  expect(opened).toEqual([]);
  stay(false);
  await vi.advanceTimersByTimeAsync(1800);
  expect(opened).toHaveLength(1);
});

it('never opens what is not in the list of its DAC', async () => {
  working = 'http://evil:1';
  lose();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked.flat().every((address) => address === 'http://hall-2:7080')).toBe(true);
  expect(opened).toEqual([]);
});

/** The last one: the DACs that were left stay in the tab. */
it('does not go back at once, waits longer after each move, and stays after six', async () => {
  const at = Date.now();
  const left = (address: string) => ({ address, at });
  const came = { from: 'hall-2', at, positions: [] };
  arrive({ ...came, trail: [left('http://hall-2:7080')] });
  lose();
  await vi.advanceTimersByTimeAsync(1300);
  expect(goingOn.value.step).toBe('waiting');
  await vi.advanceTimersByTimeAsync(20_000);
  expect([opened, new Set(asked.flat())]).toEqual([[], new Set()]);
  await vi.advanceTimersByTimeAsync(45_000);
  expect(opened).toHaveLength(1);
  connection.value = { ...connection.value, phase: 'connected' };
  const many = Array.from({ length: 6 }, () => left('http://hall-3:7070'));
  arrive({ ...came, trail: many });
  lose();
  await vi.advanceTimersByTimeAsync(100_000);
  expect([opened.length, goingOn.value.step]).toEqual([1, 'staying']);
});
