import type { Metric } from '@oasis/wire';
import { describe, expect, it } from 'vitest';
import { PartStores, partsOf } from './parts.ts';

const THREADS: Metric = {
  name: 'threads',
  type: {
    vector: {
      struct: {
        name: 'Thread',
        members: [
          { name: 'tid', type: 'uint32', kind: 'state' },
          { name: 'name', type: 'string' },
          { name: 'run_time', type: 'uint64', unit: 'ns', kind: 'counter' },
        ],
      },
    },
  },
};

describe('numbers within metrics', () => {
  it('are named by their path', () => {
    expect(partsOf(THREADS).map(({ pattern }) => pattern)).toEqual(['threads[].run_time']);
    expect(partsOf({ name: 'loads', type: { vector: 'real64' } }).map(({ pattern }) => pattern)).toEqual([
      'loads[]',
    ]);
    expect(partsOf({ name: 'load', type: 'real64' })).toEqual([]);
  });

  it('are found in structs within structs, as ROS has them', () => {
    const xyz = (name: string): Metric => ({
      name,
      type: { struct: { name: 'V', members: ['x', 'y', 'z'].map((of) => ({ name: of, type: 'real64' })) } },
    });
    const pose: Metric = {
      name: 'pose',
      type: { struct: { name: 'P', members: [{ name: 'frame', type: 'string' }, xyz('position')] } },
    };
    const patterns = ['pose.position.x', 'pose.position.y', 'pose.position.z'];
    expect(partsOf(pose).map(({ pattern }) => pattern)).toEqual(patterns);
    const parts = new PartStores(pose, 1e6);
    parts.add(Float64Array.of(1), [['map', [10, 20, 30]]]);
    expect(patterns.map((pattern) => parts.of(pattern)[0].store.tiers[0].last[0][0])).toEqual([10, 20, 30]);
  });

  it('are remembered by the name of their element, whatever its index', () => {
    const parts = new PartStores(THREADS, 1e6);
    parts.add(Float64Array.of(1, 2), [
      [
        [7, 'main', 10],
        [8, 'worker', 1],
      ],
      [
        [8, 'worker', 2n],
        [7, 'main', 11],
      ],
    ]);
    const found = parts
      .of('threads[].run_time')
      .map(({ label, store }) => [label, ...store.tiers[0].last[0].subarray(0, 2)]);
    expect(found).toEqual([
      ['7 main', 10, 11],
      ['8 worker', 1, 2],
    ]);
  });

  it('are bounded, and new elements replace absent ones', () => {
    const parts = new PartStores({ name: 'loads', type: { vector: 'real64' } }, 1e6);
    parts.add(Float64Array.of(1), [new Array(1000).fill(5)]);
    expect(parts.of('loads[]').length).toBe(64);
    const names = new PartStores(THREADS, 1e6);
    for (let index = 0; index < 100; index++) names.add(Float64Array.of(index), [[[index, `t${index}`, 1]]]);
    expect(names.of('threads[].run_time').length).toBe(64);
    names.add(Float64Array.of(1e6), [[[1, 'late', 1]]]);
    expect(names.of('threads[].run_time').map(({ label }) => label)).toContain('1 late');
  });
});
