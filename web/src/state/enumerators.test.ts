import { beforeEach, expect, it } from 'vitest';
import type { InstanceEntry } from '../stream/protocol.ts';
import { enumeratorOf, figuresOf } from './enumerators.ts';
import { applyRegistry } from './registry.ts';

const target = { node: 'robot-3', instance: 'log' };
const alarm = { ...target, rule: 'Program::Log.level WARN', value: 13, limit: 13, unit: undefined };

beforeEach(() => {
  const entry = { id: 1, ...target, type: 'Program::Log' } as InstanceEntry;
  const none = { goneNodes: [], goneInstances: [], nodes: [] };
  applyRegistry({ ...none, isWhole: true, instances: [entry] });
});

it('names the enumerator of a limit', () => {
  expect(figuresOf(alarm)).toBe('WARN');
  expect(enumeratorOf(alarm, 13)).toBe('WARN');
  expect(figuresOf({ ...alarm, rule: 'Program::Log.level NOT SEEN' })).toBe('NOT SEEN');
});

it('leaves numbers as they are', () => {
  const high = { ...alarm, rule: 'Program::Log.temperature high warning', value: 93, limit: 90, unit: 'V' };
  expect(figuresOf(high).replaceAll('\u202f', ' ')).toBe('93 V > 90 V');
  expect(figuresOf({ ...alarm, rule: 'Stalled' })).toBe('13 = 13');
  expect(figuresOf({ ...alarm, instance: 'gone' })).toBe('13 = 13');
  // Until the schema is known, the value after the alarm has no name.
  expect(figuresOf({ ...alarm, value: 9 })).toBe('9 < 13');
});
