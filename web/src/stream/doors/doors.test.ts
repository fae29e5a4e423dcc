import { decodeBatch, type Metric } from '@oasis/wire';
import { batch, deltaColumn } from '@oasis/wire/testing';
import { expect, it } from 'vitest';
import { batchOf } from '../../wire/json_batch.ts';
import { DoorChoice } from './choice.ts';

it('converts JSON to the original batch', () => {
  const times = [1_763_683_200_000_000_001n, 1_763_683_200_001_000_000n];
  const [wide, flags] = [
    [5n, 2n ** 60n],
    [0n, 1n],
  ];
  const native = decodeBatch(
    batch({
      topic: 3,
      first: 7n,
      offset: 6n,
      nodeTime: times[0],
      dacTime: 9n,
      dropped: 2,
      count: 2,
      directory: [1, 1, 1],
      body: [...deltaColumn(times, times[0]), ...deltaColumn(wide), ...deltaColumn(flags)],
    }),
    ['uint64', 'boolean'],
  );
  const metrics: Metric[] = [
    { name: 'wide', type: 'uint64' },
    { name: '__proto__', type: 'boolean' },
  ];
  const samples = times.map((time, index) =>
    JSON.parse(
      `{"sequence":"${7 + index}","offset":"${6 + index}","time":"${time}","state":0,` +
        `"metrics":{"wide":"${wide[index]}","__proto__":${flags[index] === 1n}}}`,
    ),
  );
  const message = {
    event: 'samples' as const,
    node: 'n',
    instance: 'i',
    node_time: String(times[0]),
    dac_time: '9',
    dropped_before: 2,
    samples,
  };
  const { metrics: columns, ...header } = batchOf(message, 3, metrics);
  expect(header).toEqual({ ...native, metrics: undefined });
  expect(columns.map((column) => Array.from(column))).toEqual(
    native.metrics.map((column) => Array.from(column, (value) => narrowed(value))),
  );
});

/** Columns with a value beyond 2^53 consist of bigints; JSON has small values as numbers. */
function narrowed(value: unknown): unknown {
  return typeof value === 'bigint' && value < 2n ** 53n ? Number(value) : value;
}

it('has no value for what a sample lacks', () => {
  const point: Metric = {
    name: 'at',
    type: { struct: { name: 'P', members: [{ name: 'x', type: 'int64' }] } },
  };
  const metrics: Metric[] = [
    { name: 'wide', type: 'uint64' },
    { name: 'on', type: 'boolean' },
    { name: 'list', type: { vector: 'int8' } },
    point,
  ];
  const all = { wide: '9', on: true, list: [1, null], at: { x: null } };
  const nothing = { wide: null, on: null, list: null, at: null };
  const samples = [all, nothing].map((metrics) => ({
    sequence: '1',
    offset: '0',
    time: '0',
    state: 0,
    metrics,
  }));
  const message = {
    event: 'samples' as const,
    node: 'n',
    instance: 'i',
    node_time: '0',
    dac_time: '0',
    dropped_before: 0,
    samples,
  };
  const columns = batchOf(message, 1, metrics).metrics.map((column) => Array.from<unknown>(column));
  expect(columns).toEqual([
    [9, undefined],
    [1, undefined],
    [[1, Number.NaN], undefined],
    [[Number.NaN], undefined],
  ]);
});

it('refuses JSON that does not fit the schema', () => {
  const samples = [{ sequence: '1', offset: '0', time: '0', state: 0, metrics: { list: 7 } }];
  const message = {
    event: 'samples' as const,
    node: 'n',
    instance: 'i',
    node_time: '0',
    dac_time: '0',
    dropped_before: 0,
    samples,
  };
  expect(() => batchOf(message, 1, [{ name: 'list', type: { vector: 'int8' } }])).toThrow(TypeError);
});

it('chooses the next door after failures, and keeps one that has opened', () => {
  const choice = new DoorChoice();
  choice.failed();
  expect(choice.name).toBe('websocket');
  choice.failed();
  expect(choice.name).toBe('events');
  choice.failed();
  choice.opened();
  choice.failed();
  expect(choice.name).toBe('events');
  choice.failed();
  expect(choice.name).toBe('stream');
});

it('keeps a chosen door whatever happens, and begins with the best one again', () => {
  const choice = new DoorChoice();
  choice.choose('poll');
  for (let attempt = 0; attempt < 9; attempt++) choice.failed();
  expect([choice.name, choice.isSecondBest]).toEqual(['poll', false]);
  choice.choose(undefined);
  choice.failed();
  choice.failed();
  expect([choice.name, choice.isSecondBest]).toEqual(['events', true]);
  choice.best();
  expect([choice.name, choice.isSecondBest]).toEqual(['websocket', false]);
});
