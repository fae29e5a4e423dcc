import { batch, deltaColumn } from '@oasis/wire/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { keyOf, type Target } from '../wire/target.ts';
import { Session } from './session.ts';
import type { Snapshot } from './view.ts';

const PROCESSOR: Target = { node: 'plant-7', instance: 'processor' };
const KEY = keyOf(PROCESSOR);
const START = 1_763_683_200_000;
const SCHEMA = {
  name: 'OASIS::System::LinuxProcessorProbe',
  uuid: 'u-1',
  version: '1.1',
  metrics: [{ name: 'idle', type: 'uint64', kind: 'counter' }],
};

type Sent = { op: string; id: number } & Record<string, unknown>;

/** A session, a clock, and a DAC made of canned answers. */
class Bench {
  now = START;
  readonly session = new Session(() => 1);
  readonly sent: Sent[] = [];
  readonly requested: string[] = [];
  /** Numbers of the requests, by their places in `requested`. */
  readonly ids = new Map<number, number>();
  readonly dropped: number[] = [];
  connects = 0;
  closes = 0;
  run = 'run-1';
  epoch = 'e1';
  topic = 3;
  replay = false;

  settle(): void {
    this.session.tick(this.now);
    for (const action of this.session.drainActions()) {
      if (action.do === 'send') this.sent.push(JSON.parse(action.text));
      else if (action.do === 'connect') this.connects++;
      else if (action.do === 'request') {
        this.ids.set(this.requested.length, action.id);
        this.requested.push(action.path);
      } else if (action.do === 'cancel') this.dropped.push(action.id);
      else this.closes++;
    }
  }

  pass(ms: number): void {
    for (const end = this.now + ms; this.now < end; ) {
      this.now = Math.min(end, Math.max(this.now + 1, this.session.nextTick()));
      this.settle();
    }
  }

  say(message: object): void {
    this.session.text(JSON.stringify(message), this.now);
    this.settle();
  }

  last(op: string): Sent | undefined {
    return this.sent.findLast((message) => message.op === op);
  }

  entry() {
    const { run, topic, replay } = this;
    return {
      id: topic,
      ...PROCESSOR,
      type: SCHEMA.name,
      uuid: 'u-1',
      version: '1.1',
      state: 'online',
      hertz: 1,
      run,
      replay,
    };
  }

  welcome(): void {
    this.say({ op: 'welcome', protocol: 1, server: 'oasis', epoch: this.epoch, dac_time: this.now * 1e6 });
  }

  register(lowered: Record<string, number> = {}): void {
    const overhead = { cpu: 0.02, callbacks: 0.01, budget: 0.02, lowered };
    const { run, replay } = this;
    this.say({ op: 'statistics', nodes: [{ name: 'plant-7', clock_offset_ns: 0, overhead }], instances: [] });
    this.picture([{ name: 'plant-7', online: true, run, replay }], [{ ...this.entry(), type: 0 }]);
  }

  /** A whole picture of the registry in one piece. */
  picture(nodes: object[], instances: object[]): void {
    const { name: type, uuid, version } = SCHEMA;
    const position = `${this.epoch}:1`;
    const types = [{ type, uuid, version }];
    this.say({ op: 'registry_delta', from: 0, position, more: false, types, nodes, instances, removed: {} });
  }

  subscribed(offset = 0): void {
    const { topic, epoch } = this;
    const instance = { ...this.entry(), schema: SCHEMA };
    this.say({ op: 'subscribed', id: this.last('subscribe')?.id, topic, epoch, offset, instance });
  }

  /** Connects and subscribes. */
  connect(): void {
    this.settle();
    this.welcome();
    this.register();
    this.subscribed();
  }

  batch(first: number, count = 1, dropped = 0, offset = first - 1): void {
    const time = BigInt(Math.round(this.now)) * 1_000_000n;
    const times = Array.from({ length: count }, (_, index) => time + BigInt(index));
    const values = times.map((_, index) => BigInt(first + index) * 10n);
    const bytes = batch({
      topic: this.topic,
      first: BigInt(first),
      offset: BigInt(offset),
      nodeTime: time,
      dropped,
      count,
      directory: [1, 1],
      body: [...deltaColumn(times, time), ...deltaColumn(values)],
    });
    this.session.binary(bytes, this.now);
    this.settle();
  }

  /** Answers the first look into the archive. */
  answerArchive(status: number): void {
    const id = this.ids.get(this.requested.findIndex((path) => path.startsWith('api/v1/archive')));
    this.session.answered(id ?? 0, { instances: [] }, status, this.now);
    this.settle();
  }

  snapshot(): Snapshot {
    return this.session.drainSnapshot(this.now) ?? {};
  }

  loss() {
    const loss = this.snapshot().losses?.[0];
    const events = loss?.events.map(({ cause, count }) => [cause, count]).reverse();
    return { received: loss?.received, missing: loss?.missing, unexplained: loss?.unexplained, events };
  }

  lose(): void {
    this.session.closed('closed', 1006, this.now);
    this.settle();
  }
}

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});

describe('a session', () => {
  it('connects, watches the registry and subscribes to watched instances', () => {
    bench.session.watch(PROCESSOR);
    bench.connect();
    expect(bench.connects).toBe(1);
    expect(bench.sent.map(({ op }) => op)).toEqual(['watch', 'ping', 'subscribe']);
    expect(bench.last('subscribe')).toMatchObject(PROCESSOR);
    bench.batch(1, 3);
    const snapshot = bench.snapshot();
    expect(snapshot.connection?.phase).toBe('connected');
    expect(snapshot.watches).toMatchObject([{ key: KEY, status: 'live', schema: { version: '1.1' } }]);
    expect(snapshot.samples).toMatchObject([{ key: KEY, sequence: 3, values: [30] }]);
    expect(bench.session.drainSnapshot(bench.now)).toBeUndefined();
  });

  it('asks for the newest samples first, and for all in memory only without an archive', () => {
    bench.session.watch(PROCESSOR);
    bench.settle();
    bench.welcome();
    bench.register();
    expect(bench.last('subscribe')).toMatchObject({ last: 1000 });
    expect(bench.last('subscribe')).not.toHaveProperty('from');
    bench.subscribed(900);
    bench.batch(901);
    bench.answerArchive(404);
    expect(bench.sent.slice(-2)).toMatchObject([
      { op: 'unsubscribe' },
      { op: 'subscribe', from: 'earliest' },
    ]);
    bench.subscribed();
    bench.batch(1, 901, 0, 0);
    expect(bench.loss()).toMatchObject({ missing: 0, unexplained: 0 });
  });

  it('begins with the present life of the DAC, whose nodes may count from 1 again', () => {
    bench.session.watch(PROCESSOR);
    bench.settle();
    bench.welcome();
    bench.register();
    bench.epoch = 'e0';
    bench.subscribed(500);
    bench.batch(601, 3, 0, 500);
    bench.say({ op: 'epoch', topic: 3, epoch: 'e1', offset: 0 });
    bench.batch(1, 1, 0, 0);
    expect(bench.loss()).toMatchObject({ missing: 0, unexplained: 0, events: [] });
    expect(bench.snapshot().samples ?? bench.session.positions()).toMatchObject([{ sequence: 1 }]);
  });

  it('is content with the newest samples if there are no older ones', () => {
    bench.session.watch(PROCESSOR);
    bench.connect();
    bench.answerArchive(404);
    expect(bench.last('unsubscribe')).toBeUndefined();
  });

  it('subscribes to an instance when it is registered', () => {
    bench.session.watch(PROCESSOR);
    bench.settle();
    bench.welcome();
    bench.picture([], []);
    expect(bench.last('subscribe')).toBeUndefined();
    expect(bench.snapshot().watches).toMatchObject([{ status: 'absent' }]);
    bench.register();
    expect(bench.last('subscribe')).toBeDefined();
  });

  it('continues at its place in the registry when it connects again', () => {
    bench.connect();
    expect(bench.last('watch')).toMatchObject({ deltas: true, statistics: true, schemas: 'once' });
    expect(bench.last('watch')).not.toHaveProperty('resume');
    bench.session.closed('closed', 1006, bench.now);
    bench.pass(2000);
    bench.welcome();
    expect(bench.last('watch')).toMatchObject({ resume: 'e1:1' });
  });

  it('gets a schema in a message of its own', () => {
    bench.session.watch(PROCESSOR);
    bench.settle();
    bench.welcome();
    bench.register();
    bench.say({ op: 'schema', sha256: 'abc', schema: SCHEMA });
    const { topic, epoch } = bench;
    const instance = { ...bench.entry(), schema_sha256: 'abc' };
    bench.say({ op: 'subscribed', id: bench.last('subscribe')?.id, topic, epoch, offset: 0, instance });
    expect(bench.snapshot().watches).toMatchObject([{ schema: { version: '1.1' } }]);
  });

  it('gives the page changes of the registry four times a second at most, and only whole pictures', () => {
    bench.connect();
    expect(bench.snapshot().registry).toMatchObject({ isWhole: true, instances: [{ id: 3 }] });
    const change = (from: number, more: boolean, online: boolean) => {
      const nodes = [{ name: 'plant-7', online, run: bench.run }];
      const position = `e1:${from + 1}`;
      bench.say({ op: 'registry_delta', from, position, more, types: [], nodes, instances: [], removed: {} });
    };
    change(1, false, false);
    expect(bench.snapshot().registry).toBeUndefined();
    bench.now += 250;
    expect(bench.snapshot().registry).toMatchObject({ isWhole: false, instances: [{ state: 'offline' }] });
    bench.now += 250;
    change(0, true, true);
    expect(bench.snapshot().registry).toBeUndefined();
    change(1, false, true);
    expect(bench.snapshot().registry).toMatchObject({ isWhole: true, goneInstances: [], instances: [] });
  });

  it('retries when the DAC does not know an instance of its registry', () => {
    bench.session.watch(PROCESSOR);
    bench.settle();
    bench.welcome();
    bench.register();
    const first = bench.last('subscribe')?.id;
    bench.say({ op: 'error', id: first, code: 'unknown_instance', message: '' });
    bench.pass(400);
    expect(bench.last('subscribe')?.id).not.toBe(first);
  });

  it('measures the clock by the fastest exchange', () => {
    bench.settle();
    bench.welcome();
    for (const trip of [40, 4, 20]) {
      const id = bench.last('ping')?.id;
      const dac = (bench.now + trip / 2 + 500) * 1e6;
      bench.now += trip;
      bench.say({ op: 'pong', id, client_time: 0, dac_time: dac });
      while (bench.last('ping')?.id === id) bench.pass(1);
    }
    const clock = bench.snapshot().connection?.clock;
    expect(clock?.roundTrip).toBeCloseTo(4, 3);
    expect(clock?.offset).toBeCloseTo(500, 1);
  });

  it('reconnects with a growing pause of at most one second', () => {
    bench.settle();
    bench.lose();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 7; attempt++) {
      const before = { now: bench.now, connects: bench.connects };
      while (bench.connects === before.connects) bench.pass(10);
      waits.push(bench.now - before.now);
      bench.lose();
    }
    expect(waits).toEqual([100, 200, 400, 800, 1000, 1000, 1000]);
    expect(bench.snapshot().connection).toMatchObject({
      phase: 'reconnecting',
      reason: 'closed',
      since: START,
    });
  });

  it('closes a silent connection', () => {
    bench.settle();
    bench.welcome();
    bench.pass(6000);
    expect(bench.closes).toBe(1);
    expect(bench.snapshot().connection).toMatchObject({ phase: 'reconnecting', reason: 'silent' });
  });

  it('resumes at its position without loss', () => {
    bench.session.watch(PROCESSOR);
    bench.connect();
    bench.batch(1, 5);
    bench.lose();
    bench.pass(150);
    bench.welcome();
    bench.register();
    expect(bench.last('subscribe')?.resume).toBe('e1:5 run-1@6');
    bench.subscribed(5);
    bench.batch(6, 2);
    expect(bench.loss()).toEqual({ received: 7, missing: 0, unexplained: 0, events: [['reconnected', 0]] });
  });

  it('stops watching without readers, also during a subscription', () => {
    bench.session.watch(PROCESSOR);
    bench.settle();
    bench.welcome();
    bench.register();
    bench.session.unwatch(PROCESSOR);
    bench.subscribed();
    expect(bench.last('unsubscribe')).toMatchObject({ topic: 3 });
    bench.batch(1);
    expect(bench.snapshot().samples).toBeUndefined();
  });

  it('gives a pending subscription to a reader that watches meanwhile', () => {
    bench.session.watch(PROCESSOR);
    bench.settle();
    bench.welcome();
    bench.register();
    bench.session.unwatch(PROCESSOR);
    bench.session.watch(PROCESSOR);
    bench.settle();
    bench.subscribed();
    expect(bench.sent.filter(({ op }) => op === 'subscribe')).toHaveLength(1);
    expect(bench.last('unsubscribe')).toBeUndefined();
    bench.batch(1);
    expect(bench.snapshot().samples).toHaveLength(1);
  });

  it('describes why a batch or a schema cannot be read', () => {
    bench.session.watch(PROCESSOR);
    bench.connect();
    bench.snapshot();
    const bytes = batch({ topic: 3, count: 1, directory: [1, 9], body: [0, 0] });
    bench.session.binary(bytes, bench.now);
    expect(bench.snapshot().watches?.[0]).toMatchObject({ status: 'failed' });
    bench.session.binary(new Uint8Array(3), bench.now);
    bench.session.text('nonsense', bench.now);
    bench.batch(1);
    expect(bench.snapshot().watches?.[0]).toMatchObject({ status: 'live', problem: undefined });
  });
});

describe('missing samples', () => {
  beforeEach(() => {
    bench.session.watch(PROCESSOR);
    bench.connect();
    bench.batch(1, 10);
  });

  it('are dropped by the node, or unexplained', () => {
    bench.batch(14, 1, 3);
    bench.batch(20, 1, 2);
    expect(bench.loss()).toEqual({
      received: 12,
      missing: 8,
      unexplained: 3,
      events: [
        ['node_dropped', 3],
        ['unexplained', 3],
        ['node_dropped', 2],
      ],
    });
  });

  it('have each cause that the DAC reports, on charts too', () => {
    expect(bench.last('subscribe')).toMatchObject({ gaps: true });
    const run = 'run-1';
    const gaps = [
      { from_sequence: 11, to_sequence: 12, count: 2, cause: 'spool_full', run },
      { from_sequence: 13, to_sequence: 13, count: 1, cause: 'dropped_ring', run },
    ];
    bench.pass(100);
    bench.say({ op: 'gaps_before', topic: 3, gaps });
    bench.batch(14, 1, 3);
    expect(bench.loss()).toMatchObject({
      missing: 3,
      unexplained: 0,
      events: [
        ['spool_full', 2],
        ['ring_full', 1],
      ],
    });
  });

  it('are counted by the DAC too, since it started', () => {
    expect(bench.last('watch')).toMatchObject({ statistics: true, causes: true });
    bench.say({
      op: 'statistics',
      nodes: [],
      instances: [
        [3, 40, 9, 1, { ring_full: 4, kept_back: 5 }],
        [4, 1, 0, 1],
      ],
    });
    const counts = { received: 40, missing: 4, keptBack: 5, unexplained: 0, causes: [['ring_full', 4]] };
    expect(bench.snapshot().counts).toEqual([{ key: KEY, ...counts }]);
    bench.batch(11);
    expect(bench.snapshot().counts).toBeUndefined();
  });

  it('are evicted from the log', () => {
    bench.say({ op: 'gap', topic: 3, from: 10, to: 15, count: 5, cause: 'log_retention' });
    bench.batch(16);
    expect(bench.loss()).toMatchObject({ missing: 5, unexplained: 0, events: [['log_retention', 5]] });
  });

  it('belong to an earlier epoch of the DAC', () => {
    bench.lose();
    bench.pass(200);
    bench.epoch = 'e2';
    bench.welcome();
    bench.register();
    expect(bench.last('subscribe')?.resume).toBe('e1:10 run-1@11');
    bench.subscribed();
    bench.say({ op: 'gap', topic: 3, cause: 'epoch_changed' });
    bench.batch(13, 2, 0, 0);
    expect(bench.loss()).toMatchObject({ missing: 2, unexplained: 0 });
    bench.batch(20, 1, 0, 2);
    expect(bench.loss()).toMatchObject({ missing: 7, unexplained: 5 });
    bench.lose();
    bench.pass(200);
    bench.welcome();
    bench.register();
    expect(bench.last('subscribe')?.resume).toBe('e2:3 run-1@21');
  });

  it('are none if the archive has the samples of the earlier epoch', () => {
    bench.lose();
    bench.pass(200);
    bench.epoch = 'e2';
    bench.welcome();
    bench.register();
    bench.epoch = 'e1';
    bench.subscribed(10);
    bench.batch(11, 2, 0, 10);
    bench.say({ op: 'epoch', topic: 3, epoch: 'e2', offset: 0 });
    bench.batch(12, 2, 0, 0);
    expect(bench.loss()).toMatchObject({ received: 13, missing: 0, unexplained: 0 });
    bench.lose();
    bench.pass(200);
    bench.welcome();
    bench.register();
    expect(bench.last('subscribe')).toMatchObject({ resume: 'e2:2 run-1@14' });
  });

  it('are read newest first after a long interruption, if there is an archive', () => {
    bench.batch(11);
    bench.answerArchive(200);
    bench.lose();
    bench.pass(70_000);
    bench.welcome();
    bench.register();
    expect(bench.last('subscribe')).toMatchObject({ last: 1000 });
    expect(bench.last('subscribe')).not.toHaveProperty('resume');
    bench.subscribed(900);
    bench.batch(901);
    expect(bench.loss()).toMatchObject({ missing: 0, unexplained: 0 });
  });

  it('are read newest first after the browser has stopped the page', () => {
    bench.batch(11);
    bench.answerArchive(200);
    bench.now += 17 * 60_000;
    bench.batch(12);
    expect(bench.closes).toBe(1);
    bench.pass(200);
    bench.welcome();
    bench.register();
    expect(bench.last('subscribe')).toMatchObject({ last: 1000 });
  });

  it('are left to the charts after a long interruption', () => {
    bench.lose();
    bench.pass(200);
    bench.welcome();
    bench.register();
    expect(bench.last('subscribe')).not.toHaveProperty('overflow');
    bench.subscribed(10);
    bench.lose();
    bench.pass(70_000);
    bench.welcome();
    bench.register();
    expect(bench.last('subscribe')).toMatchObject({ resume: 'e1:10 run-1@11', overflow: 'latest' });
  });

  it('are none if a restarted DAC repeats samples', () => {
    bench.lose();
    bench.pass(200);
    bench.epoch = 'e2';
    bench.welcome();
    bench.register();
    bench.subscribed();
    // A node sends again all that was not safe: many batches, and then new samples.
    bench.batch(1, 3, 0, 0);
    bench.batch(4, 4, 0, 3);
    bench.batch(8, 5, 0, 7);
    const events = [
      ['reconnected', 0],
      ['epoch_changed', 0],
    ];
    expect(bench.loss()).toMatchObject({ received: 12, missing: 0, unexplained: 0, events });
  });

  it('are none after a restart of the node, whether the registry reports it before or after', () => {
    bench.run = 'run-2';
    bench.register();
    bench.batch(1);
    expect(bench.loss()).toMatchObject({ missing: 0, unexplained: 0, events: [['node_restart', 0]] });
    bench.batch(1);
    bench.run = 'run-3';
    bench.register();
    bench.batch(2);
    const { missing, events } = bench.loss();
    expect({ missing, count: events?.length }).toEqual({ missing: 0, count: 2 });
  });

  it('are none at another DAC that knows the run of the node', () => {
    // The next process begins before the registry says so: until then only this DAC knows the position.
    bench.batch(1, 2, 0, 10);
    bench.lose();
    bench.pass(200);
    bench.welcome();
    bench.register();
    expect(bench.last('subscribe')?.resume).toBe('e1:12');
    bench.run = 'run-2';
    bench.register();
    bench.subscribed(12);
    bench.batch(3, 1, 0, 12);
    bench.lose();
    bench.pass(200);
    bench.epoch = 'e2';
    bench.welcome();
    bench.register();
    expect(bench.last('subscribe')?.resume).toBe('e1:13 run-2@4');
    bench.subscribed(100);
    bench.batch(4, 1, 0, 100);
    expect(bench.loss()).toMatchObject({ missing: 0, unexplained: 0 });
  });
});

it('counts no loss at the start of a recording, also when the replay restarts', () => {
  bench.replay = true;
  bench.session.watch(PROCESSOR);
  bench.connect();
  bench.batch(62, 3, 0, 0);
  bench.pass(1000);
  bench.run = 'run-2';
  bench.register();
  bench.batch(62, 3, 0, 3);
  expect(bench.loss()).toMatchObject({
    received: 6,
    missing: 61,
    unexplained: 0,
    events: [
      ['node_restart', 0],
      ['not_recorded', 61],
    ],
  });
  const query = {
    kind: 'columns',
    sources: [{ target: PROCESSOR, metrics: ['idle'] }],
    columns: 100,
  } as const;
  bench.session.views.show(1, { ...query, range: { live: true, span: 60_000 } });
  const answer = bench.session.views.drain(bench.now)[0]?.answer;
  // The missing samples do not fill the time from the end of the recording to its next start.
  expect(answer?.kind === 'columns' && answer.blocks[0].gaps).toMatchObject([
    { cause: 'node_restart', count: 0 },
  ]);
});

describe('a command', () => {
  beforeEach(() => {
    bench.session.watch(PROCESSOR);
    bench.connect();
    bench.snapshot();
    bench.session.command(PROCESSOR, { command: 'hertz', hertz: 10 }, bench.now);
    bench.settle();
  });

  it('is pending, then done', () => {
    expect(bench.last('command')).toMatchObject({ ...PROCESSOR, command: 'hertz', hertz: 10 });
    expect(bench.snapshot().commands).toMatchObject([
      { key: KEY, status: 'pending', request: { hertz: 10 } },
    ]);
    bench.say({ op: 'result', id: bench.last('command')?.id, status: 'done', hertz: 10, enabled: true });
    expect(bench.snapshot().commands).toMatchObject([{ status: 'done' }]);
  });

  it('fails with the reason from the DAC', () => {
    bench.say({ op: 'error', id: bench.last('command')?.id, code: 'refused', message: 'too fast' });
    expect(bench.snapshot().commands).toMatchObject([
      {},
      { status: 'failed', code: 'refused', message: 'too fast' },
    ]);
  });

  it('fails without a connection', () => {
    bench.lose();
    expect(bench.snapshot().commands).toMatchObject([{}, { status: 'failed', code: 'connection_lost' }]);
    bench.session.command(PROCESSOR, { command: 'enable' }, bench.now);
    expect(bench.snapshot().commands).toMatchObject([{ status: 'failed', code: 'connection_lost' }]);
  });
});
