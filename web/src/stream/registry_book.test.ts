import { describe, expect, it } from 'vitest';
import { parseServerMessage } from './protocol.ts';
import { RegistryBook } from './registry_book.ts';

const OVEN = { id: 3, node: 'plant', instance: 'oven', type: 0, kind: 'periodic', hertz: 100, run: 'r1' };
const TYPES = [{ type: 'Plant::Oven', uuid: 'u-1', version: '1.0', schema: 'abc' }];

class Bench {
  readonly book = new RegistryBook();
  private revision = 0;

  delta(parts: object, from = this.revision): void {
    this.revision++;
    const position = `e1:${this.revision}`;
    const message = {
      op: 'registry_delta',
      from,
      position,
      more: false,
      types: TYPES,
      removed: {},
      ...parts,
    };
    const parsed = parseServerMessage(JSON.stringify(message));
    if (parsed?.op !== 'registry_delta') throw new Error('no delta');
    this.book.apply(parsed.delta);
  }

  node(online: boolean, run = 'r1', name = 'plant'): void {
    this.delta({ nodes: [{ name, online, run, replay: false }] });
  }

  lower(lowered: Record<string, number>): void {
    const nodes = [{ name: 'plant', clock_offset_ns: 7, overhead: { cpu: 0, callbacks: 0, lowered } }];
    const parsed = parseServerMessage(JSON.stringify({ op: 'statistics', nodes }));
    if (parsed?.op !== 'statistics') throw new Error('no statistics');
    for (const [name, statistics] of parsed.nodes) this.book.applyStatistics(name, statistics);
  }
}

function plant(): Bench {
  const bench = new Bench();
  bench.node(true);
  bench.delta({ instances: [OVEN] });
  bench.book.drain();
  return bench;
}

describe('the registry of changes', () => {
  it('knows an instance by names and number, with its type', () => {
    const { book } = plant();
    expect(book.entry({ node: 'plant', instance: 'oven' })).toMatchObject({
      type: 'Plant::Oven',
      uuid: 'u-1',
    });
    expect(book.entryOf(3)).toMatchObject({ state: 'online', pace: 100 });
    expect(book.position).toBe('e1:2');
  });

  it('takes an instance for offline while its node is, or has another run', () => {
    const bench = plant();
    bench.node(false);
    expect(bench.book.drain()).toMatchObject({ isWhole: false, instances: [{ id: 3, state: 'offline' }] });
    bench.node(true, 'r2');
    expect(bench.book.entryOf(3)?.state).toBe('offline');
    bench.delta({ instances: [{ ...OVEN, run: 'r2' }] });
    expect(bench.book.entryOf(3)?.state).toBe('online');
  });

  it('expects samples at the lowered rate of the node, and not of a pushed probe or a flight recorder', () => {
    const bench = plant();
    bench.lower({ oven: 12.5 });
    expect(bench.book.drain().instances).toMatchObject([{ id: 3, pace: 12.5 }]);
    expect(bench.book.clockOffset('plant')).toBe(7);
    bench.lower({});
    expect(bench.book.drain().instances).toMatchObject([{ id: 3, pace: 100 }]);
    bench.delta({ instances: [{ ...OVEN, recorder: { before_s: 10, after_s: 5 } }] });
    expect(bench.book.entryOf(3)?.pace).toBe(null);
    bench.delta({ instances: [{ ...OVEN, hertz: undefined }] });
    expect(bench.book.entryOf(3)?.pace).toBe(null);
  });

  it('lists what is gone, and keeps a name that another number has taken', () => {
    const bench = plant();
    bench.delta({ removed: { instances: [3] }, instances: [{ ...OVEN, id: 4 }] });
    expect(bench.book.drain()).toMatchObject({ instances: [{ id: 4 }], goneInstances: [3] });
    expect(bench.book.entry({ node: 'plant', instance: 'oven' })?.id).toBe(4);
    bench.delta({ removed: { nodes: ['plant'], instances: [4] } });
    expect(bench.book.drain()).toMatchObject({ goneNodes: ['plant'], goneInstances: [4] });
  });

  it('forgets everything when a new picture begins', () => {
    const bench = plant();
    bench.delta({ more: true, nodes: [{ name: 'other', online: true, run: 'r1' }] }, 0);
    expect(bench.book.isComplete).toBe(false);
    expect(bench.book.entryOf(3)).toBeUndefined();
    bench.delta({ instances: [] });
    expect(bench.book.isComplete).toBe(true);
    expect(bench.book.drain()).toMatchObject({
      isWhole: true,
      nodes: [{ name: 'other' }],
      goneInstances: [],
    });
  });
});

describe('labels and settings', () => {
  it('come with the entries, and what is none of them is left out', () => {
    const bench = new Bench();
    const kept = { value: { hertz: 5 }, by: 'person:ada', at: 2e6, state: 'applied' };
    const settings = [
      { setting: 'rate', value: { hertz: 5 }, program: { demand: { min: 1, max: 10 } }, kept },
      { setting: 'enabled', value: { enabled: false }, program: { enabled: true } },
      { setting: 'deadband:t', value: { deadband: null }, kept: { value: { hertz: 'x' } } },
      { setting: 7 },
      'wrong',
    ];
    bench.delta({
      nodes: [{ name: 'plant', online: true, run: 'r1', replay: false, labels: { site: 'graz', wrong: 1 } }],
      instances: [
        { id: 1, node: 'plant', instance: 'tank', type: 0, run: 'r1', labels: { unit: '1' }, settings },
      ],
    });
    const { nodes, instances } = bench.book.drain();
    expect({ ...nodes[0]?.labels }).toEqual({ site: 'graz' });
    expect({ ...instances[0]?.labels }).toEqual({ unit: '1' });
    expect(instances[0]?.settings).toEqual([
      {
        setting: 'rate',
        value: { kind: 'hertz', hertz: 5 },
        program: { kind: 'demand', min: 1, max: 10 },
        kept: { value: { kind: 'hertz', hertz: 5 }, by: 'person:ada', at: 2, state: 'applied' },
      },
      {
        setting: 'enabled',
        value: { kind: 'enabled', enabled: false },
        program: { kind: 'enabled', enabled: true },
      },
      { setting: 'deadband:t', value: { kind: 'deadband' } },
    ]);
  });
});
