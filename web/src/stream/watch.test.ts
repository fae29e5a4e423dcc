import { batch, deltaColumn } from '@oasis/wire/testing';
import { expect, it } from 'vitest';
import type { InstanceEntry } from './protocol.ts';
import { Watch } from './watch.ts';

const START = 1_763_683_200_000;
const SCHEMA = { name: 'Beat', uuid: 'u-1', version: '1.0', metrics: [{ name: 'beats', type: 'uint64' }] };
const TARGET = { node: 'replay:plant', instance: 'beat' };

/** A replayed instance, and the gaps of its chart. */
class Replayed {
  readonly watch = new Watch(TARGET);
  private taken = 0;
  private held = 0;

  constructor(
    kind: string,
    private readonly isReplay = true,
    /** From a sample to the DAC, milliseconds. */
    private readonly delay = 0,
  ) {
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
      labels: {},
      settings: [],
      replay: this.isReplay,
      run,
    };
  }

  /** Adds samples as one batch, at milliseconds after the start. */
  add(...at: number[]): this {
    const first = BigInt(this.taken);
    this.taken += at.length;
    return this.deliver(first, first, at);
  }

  /** The DAC keeps what follows for so long before it sends it. */
  heldFor(ms: number): this {
    this.held = ms;
    return this;
  }

  /** Delivers samples ahead of their turn. */
  addAhead(first: number, ...at: number[]): this {
    return this.deliver(BigInt(first), 2n ** 64n - 1n, at);
  }

  private deliver(first: bigint, offset: bigint, at: number[]): this {
    const times = at.map((ms) => BigInt(START + ms) * 1_000_000n);
    const bytes = batch({
      topic: 3,
      first: first + 1n,
      offset,
      nodeTime: times[0],
      dacTime: times[0] + BigInt(this.delay) * 1_000_000n,
      count: at.length,
      directory: [1, 1],
      body: [...deltaColumn(times, times[0]), ...deltaColumn(times.map((_, index) => BigInt(index)))],
    });
    this.watch.batch(bytes, START + at[0] + this.delay + this.held, 0, 0);
    return this;
  }

  /** Adds samples at an interval, each as a batch. */
  addEvery(ms: number, from: number, count: number): this {
    for (let index = 0; index < count; index++) this.add(from + index * ms);
    return this;
  }

  get gaps() {
    return this.watch.memory?.gaps.map(({ from, to, cause }) => [from - START, to - START, cause]);
  }
}

it('detects a silence in a replay from earlier intervals', () => {
  const replayed = new Replayed('periodic').addEvery(100, 0, 6).add(3_000);
  expect(replayed.gaps).toEqual([[500, 3_000, 'silent']]);
  // Batches of several samples, at a high rate.
  replayed.add(3_001, 3_002, 3_003, 3_004, 3_005, 3_006, 3_007, 3_008).add(3_520);
  expect(replayed.gaps).toHaveLength(2);
});

it('reports a lowered rate as one silence', () => {
  const replayed = new Replayed('periodic').addEvery(100, 0, 10).addEvery(2_000, 3_000, 10);
  expect(replayed.gaps).toEqual([[900, 3_000, 'silent']]);
});

it('does not report silence for a slow rate, for the first samples, or without a rate', () => {
  expect(new Replayed('periodic').addEvery(5_000, 0, 10).gaps).toEqual([]);
  expect(new Replayed('periodic').add(0, 100, 200).add(9_000).gaps).toEqual([]);
  expect(new Replayed('event').addEvery(100, 0, 6).add(3_000).gaps).toEqual([]);
});

it('estimates the rate again for each replay', () => {
  const replayed = new Replayed('periodic').addEvery(10, 0, 10);
  replayed.watch.updateEntry(replayed.entry('periodic', 'run-2'));
  expect(replayed.addEvery(1_000, 1_000, 10).gaps).toEqual([]);
});

it('draws, hatches and lists the silence of a pushed probe that came regularly', () => {
  const pushed = new Replayed('pushed').addEvery(20, 0, 150).add(4_640).addEvery(20, 4_660, 10);
  expect(pushed.gaps).toEqual([[2_980, 4_640, 'silent']]);
  const [event] = pushed.watch.ledger.view().events;
  expect(event).toEqual({ at: START + 4_640, cause: 'silent', count: 0, duration: 1_660 });
  expect(pushed.watch.ledger.view().missing).toBe(0);
  const breaks = pushed.watch.memory?.store.tiers[0].breaks;
  expect(breaks?.reduce((sum, broken) => sum + broken, 0)).toBe(1);
});

it('finds a silence within a batch', () => {
  const times = Array.from({ length: 150 }, (_, index) => index * 20);
  const pushed = new Replayed('pushed').add(...times, 4_640, 4_660);
  expect(pushed.gaps).toEqual([[2_980, 4_640, 'silent']]);
});

it('calls neither a short stall nor the pause after a burst of events a silence', () => {
  expect(new Replayed('pushed').addEvery(20, 0, 150).add(3_400).gaps).toEqual([]);
  expect(new Replayed('pushed').addEvery(1, 0, 50).add(5_000).gaps).toEqual([]);
  expect(
    new Replayed('pushed').add(0, 10, 900, 950, 2_000, 2_003, 2_400, 2_405, 2_600).add(9_000).gaps,
  ).toEqual([]);
});

it('separates the samples before and after a time in which the probe was disabled', () => {
  const pushed = new Replayed('event').add(0, 5, 10);
  pushed.watch.updateEntry({ ...pushed.entry('event', 'run-1'), enabled: false });
  // A sample from before, which was on its way.
  pushed.add(15);
  pushed.watch.updateEntry(pushed.entry('event', 'run-1'));
  pushed.add(300).add(900);
  expect(pushed.gaps).toEqual([[15, 300, 'disabled']]);
  expect(pushed.watch.ledger.view().events).toMatchObject([{ cause: 'disabled', duration: 285 }]);
});

it('shows a sample ahead of a backlog, and counts it when its turn comes', () => {
  const { watch } = new Replayed('periodic').add(0).addAhead(50, 5_000).add(100);
  expect(watch.sample).toMatchObject({ sequence: 51, time: START + 5_000 });
  expect(watch.ledger.view()).toMatchObject({ received: 2, missing: 0 });
  expect(watch.memory?.store.newest).toBe(START + 100);
  expect(watch.flow(START, 0).newest).toBe(START + 100);
  expect(watch.position).toBe('e1:2 run-1@3');
});

it('shows samples in order again after the backlog', () => {
  const replayed = new Replayed('periodic').add(0).addAhead(2, 200).add(100);
  expect(replayed.watch.sample?.sequence).toBe(3);
  replayed.add(200);
  expect(replayed.watch.sample).toMatchObject({ sequence: 3, rates: [] });
  replayed.addAhead(2, 200).add(300);
  expect(replayed.watch.sample?.sequence).toBe(4);
  expect(replayed.watch.ledger.view().received).toBe(4);
});

it('calls a silence silent while it lasts, by the rule of silences that are over, and has no rate then', () => {
  const { watch } = new Replayed('periodic', false).addEvery(100, 0, 20);
  const at = (ms: number) => watch.lastingGap(START + ms, 0);
  expect(at(2_600)).toBeUndefined();
  expect(watch.flow(START + 2_600, 0).rate).toBeGreaterThan(0);
  const silent = { from: START + 1_900, to: START + 2_700, cause: 'silent', count: 0, isLasting: true };
  expect(at(2_700)).toEqual(silent);
  expect(watch.flow(START + 2_700, 0).rate).toBe(0);
  // The clock of the node is late.
  expect(watch.lastingGap(START + 2_650, -50)).toEqual(silent);
});

it('does not call a probe silent whose samples may still be on their way, or that has no rate', () => {
  const slow = new Replayed('periodic', false, 2_000).addEvery(100, 0, 20);
  expect(slow.watch.lastingGap(START + 4_600, 0)).toBeUndefined();
  expect(slow.watch.lastingGap(START + 4_700, 0)?.cause).toBe('silent');
  const events = new Replayed('event', false).addEvery(100, 0, 20);
  expect(events.watch.lastingGap(START + 60_000, 0)).toBeUndefined();
  expect(new Replayed('periodic').addEvery(100, 0, 20).watch.lastingGap(START + 60_000, 0)).toBeUndefined();
});

it('does not call silent what it still receives from the log of the DAC', () => {
  const replayed = new Replayed('periodic', false).addEvery(100, 0, 20);
  const { watch } = replayed;
  expect(watch.flow(START + 2_000, 0)).toMatchObject({ isCatchingUp: false });
  // The DAC has this batch for eight minutes.
  replayed.heldFor(480_000).add(2_000);
  const now = START + 482_000;
  expect(watch.flow(now, 0)).toMatchObject({ isCatchingUp: true, rate: undefined });
  expect(watch.lastingGap(now, 0)).toBeUndefined();
  // Nothing else came: that was all.
  expect(watch.flow(now + 3_000, 0)).toMatchObject({ isCatchingUp: false, rate: 0 });
  expect(watch.lastingGap(now + 3_000, 0)?.cause).toBe('silent');
});

it('says at once why a probe takes no samples: it is disabled, its node offline, or the page without a connection', () => {
  const replayed = new Replayed('event', false).addEvery(100, 0, 20);
  const { watch } = replayed;
  watch.updateEntry({ ...replayed.entry('event', 'run-1'), enabled: false });
  expect(watch.lastingGap(START + 2_700, 0)).toMatchObject({ from: START + 1_900, cause: 'disabled' });
  watch.updateEntry({ ...replayed.entry('event', 'run-1'), state: 'offline' });
  expect(watch.lastingGap(START + 2_700, 0)?.cause).toBe('node_offline');
  expect(watch.flow(START + 2_700, 0).rate).toBe(0);
  // Nothing in memory: the archive knows the newest sample.
  const other = new Replayed('event', false);
  other.watch.updateEntry({ ...other.entry('event', 'run-1'), state: 'offline' });
  expect(other.watch.lastingGap(START + 2_700, 0, START)).toMatchObject({ from: START });
  const cut = new Replayed('periodic', false).addEvery(100, 0, 20).watch;
  cut.disconnected();
  expect(cut.lastingGap(START + 2_700, 0)?.cause).toBe('reconnected');
  expect(cut.flow(START + 2_700, 0).rate).toBeUndefined();
});
