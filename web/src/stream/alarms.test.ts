import type { Batch } from '@oasis/wire';
import { parseSchema } from '@oasis/wire';
import { beforeEach, expect, it } from 'vitest';
import { AlarmWatch } from './alarms.ts';

const OPENED = 1_000_000;
const SCHEMA = parseSchema({
  name: 'Boiler',
  uuid: 'u',
  version: '1.0',
  metrics: [{ name: 'pressure', type: 'real64', alarm: { above: 10 } }],
});

let watch: AlarmWatch;

/** Adds samples as `[time, pressure]`, arriving at a time; times count from the opening of the page. */
function add(now: number, ...samples: (readonly [number, number])[]): void {
  const times = Float64Array.from(samples, ([time]) => OPENED + time);
  const metrics = [Float64Array.from(samples, ([, value]) => value)];
  watch.add({ metrics } as unknown as Batch, times, 0, OPENED + now);
}

const drain = (now: number) =>
  watch
    .drain(OPENED + now)
    .map(({ since, until, isOlder }) => [since - OPENED, until && until - OPENED, isOlder]);

beforeEach(() => {
  watch = new AlarmWatch('key', SCHEMA);
});

it('raises no alarms that ended before the page was opened, however the past arrives', () => {
  add(0, [-60_000, 5], [-50_000, 11], [-40_000, 5]);
  expect(drain(10)).toEqual([]);
  add(20, [-30_000, 12], [-20_000, 5], [-10_000, 13]);
  expect(drain(30)).toEqual([]);
  add(40, [-5_000, 14], [-100, 15]);
  expect(drain(50)).toEqual([[-10_000, undefined, false]]);
  add(300, [300, 5], [400, 5]);
  expect(drain(310)).toEqual([[-10_000, 300, false]]);
});

it('raises what lasts of a silent instance after a moment, and says that it may have begun earlier', () => {
  add(0, [-60_000, 11], [-50_000, 12]);
  expect(drain(500)).toEqual([]);
  expect(drain(1_500)).toEqual([[-60_000, undefined, true]]);
});

it('raises alarms at once later on', () => {
  add(0, [0, 5]);
  add(1_000, [1_000, 11], [1_100, 5]);
  expect(drain(1_200)).toEqual([[1_000, 1_100, false]]);
});
