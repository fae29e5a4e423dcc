import { batch, deltaColumn } from '@oasis/wire/testing';
import { expect, it } from 'vitest';
import type { InstanceEntry } from './protocol.ts';
import { Watch } from './watch.ts';

const START = 1_763_683_200_000;
const SCHEMA = { name: 'Beat', uuid: 'u-1', version: '1.0', metrics: [{ name: 'beats', type: 'uint64' }] };
const TARGET = { node: 'plant', instance: 'beat' };
const BEFORE = { ...TARGET, run: 'run-1', sequence: 500, epoch: 'e1', offset: 480 };

/** An instance that the page of another DAC has watched up to sample 500. */
class TakenOver {
  readonly watch: Watch;
  private readonly entry: InstanceEntry;

  constructor({ run = 'run-1', kind = 'periodic' } = {}) {
    this.watch = new Watch(TARGET, BEFORE);
    this.entry = {
      ...{ id: 3, ...TARGET, type: SCHEMA.name, uuid: SCHEMA.uuid, version: SCHEMA.version },
      ...{ state: 'online', enabled: true, hertz: 2, pace: 2, demand: null, kind, recorder: null },
      ...{ replay: false, run, labels: {}, settings: [] },
    };
    this.watch.updateEntry(this.entry);
  }

  /** Subscribes, and receives samples from this one on. */
  receive(first: number, count: number): this {
    this.watch.subscribed(3, 'e2', 0, this.entry, SCHEMA, START);
    const times = Array.from({ length: count }, (_, index) => BigInt(START + 500 * index) * 1_000_000n);
    const bytes = batch({
      topic: 3,
      first: BigInt(first),
      offset: 0n,
      nodeTime: times[0],
      count,
      directory: [1, 1],
      body: [...deltaColumn(times, times[0]), ...deltaColumn(times.map((_, index) => BigInt(index)))],
    });
    this.watch.batch(bytes, START, 0, 0);
    return this;
  }

  get loss() {
    const { received, missing, events } = this.watch.ledger.view();
    return { received, missing, events: events.map(({ cause, from, to }) => [cause, from, to]) };
  }
}

it('asks for a minute before the place where the other page has left off', () => {
  expect(new TakenOver().watch.position).toBe('e1:360 run-1@381');
  // The rate of a pushed probe is unknown.
  expect(new TakenOver({ kind: 'pushed' }).watch.position).toBe('e1:0 run-1@1');
});

it('shows the past that the other page had, and misses nothing', () => {
  const taken = new TakenOver().receive(400, 150);
  expect(taken.loss).toEqual({ received: 150, missing: 0, events: [] });
  expect(taken.watch.memory?.store.oldest).toBe(START);
  expect(taken.watch.position).toBe('e2:150 run-1@550');
});

it('misses nothing if the next sample comes first', () => {
  expect(new TakenOver().receive(501, 3).loss).toEqual({ received: 3, missing: 0, events: [] });
});

it('knows which samples are missing since the other page has left off', () => {
  const taken = new TakenOver().receive(511, 3);
  expect(taken.loss).toEqual({ received: 3, missing: 10, events: [['epoch_changed', 501, 510]] });
});

it('begins anew if the node has been started again', () => {
  expect(new TakenOver({ run: 'run-2' }).receive(511, 3).loss).toMatchObject({ received: 3, missing: 0 });
});

it('hands over its own place, or that from before if nothing has come', () => {
  expect(new TakenOver().watch.newestPosition).toEqual(BEFORE);
  const newest = { ...BEFORE, sequence: 503, epoch: 'e2', offset: 3 };
  expect(new TakenOver().receive(501, 3).watch.newestPosition).toEqual(newest);
});
