import { batch, deltaColumn } from '@oasis/wire/testing';
import { expect, it } from 'vitest';
import type { InstanceEntry } from './protocol.ts';
import { Watch } from './watch.ts';

const START = 1_763_683_200_000;
const SCHEMA = { name: 'Beat', uuid: 'u-1', version: '1.0', metrics: [{ name: 'beats', type: 'uint64' }] };
const TARGET = { node: 'replay:plant', instance: 'beat' };

/** An instance that is played back, and what a chart of it leaves blank. */
class Played {
  readonly watch = new Watch(TARGET);
  private taken = 0;

  constructor(kind: string) {
    const entry = this.entry(kind, 'run-1');
    this.watch.subscribed(3, 'e1', 0, entry, SCHEMA, START);
  }

  entry(kind: string, run: string): InstanceEntry {
    return {
      id: 3,
      ...TARGET,
      type: SCHEMA.name,
      uuid: SCHEMA.uuid,
      version: SCHEMA.version,
      state: 'online',
      enabled: true,
      hertz: null,
      pace: null,
      demand: null,
      kind,
      recorder: null,
      replay: true,
      run,
    };
  }

  /** Samples so many milliseconds behind the start, as one batch. */
  comes(...at: number[]): this {
    const times = at.map((ms) => BigInt(START + ms) * 1_000_000n);
    const first = BigInt(this.taken);
    this.taken += at.length;
    const bytes = batch({
      topic: 3,
      first: first + 1n,
      offset: first,
      nodeTime: times[0],
      count: at.length,
      directory: [1, 1],
      body: [...deltaColumn(times, times[0]), ...deltaColumn(times.map((_, index) => BigInt(index)))],
    });
    this.watch.batch(bytes, START + at[0], 0, 0);
    return this;
  }

  /** Samples from a time on, each a batch. */
  every(ms: number, from: number, count: number): this {
    for (let index = 0; index < count; index++) this.comes(from + index * ms);
    return this;
  }

  get gaps() {
    return this.watch.memory?.gaps.map(({ from, to, cause }) => [from - START, to - START, cause]);
  }
}

it('sees a silence in what is played back, by how far apart the samples before it were', () => {
  const played = new Played('periodic').every(100, 0, 6).comes(3_000);
  expect(played.gaps).toEqual([[500, 3_000, 'silent']]);
  // In batches of several, and where the rate was high.
  played.comes(3_001, 3_002, 3_003, 3_004, 3_005, 3_006, 3_007, 3_008).comes(3_520);
  expect(played.gaps).toHaveLength(2);
});

it('calls a rate that has fallen silent once, and then knows it', () => {
  const played = new Played('periodic').every(100, 0, 10).every(2_000, 3_000, 10);
  expect(played.gaps).toEqual([[900, 3_000, 'silent']]);
});

it('does not take a slow rate for silence, nor what comes first, nor what is no rate', () => {
  expect(new Played('periodic').every(5_000, 0, 10).gaps).toEqual([]);
  expect(new Played('periodic').comes(0, 100, 200).comes(9_000).gaps).toEqual([]);
  expect(new Played('event').every(100, 0, 6).comes(3_000).gaps).toEqual([]);
});

it('learns the rate anew when a recording is played again, perhaps at another speed', () => {
  const played = new Played('periodic').every(10, 0, 10);
  played.watch.sawEntry(played.entry('periodic', 'run-2'));
  expect(played.every(1_000, 1_000, 10).gaps).toEqual([]);
});
