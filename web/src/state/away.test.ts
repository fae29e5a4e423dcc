import { expect, it } from 'vitest';
import type { InstanceEntry, NodeEntry } from '../stream/protocol.ts';
import { newestOfAllAway } from './away.ts';

const nodes = [
  { name: 'arm', since: 5 },
  { name: 'pump', since: 9 },
] as NodeEntry[];
const entry = (node: string, state = 'offline') => ({ node, instance: 'motor', state }) as InstanceEntry;

it('leads to the newest sample if no shown instance is online', () => {
  expect(newestOfAllAway([entry('arm'), entry('pump'), undefined], nodes)).toContain('pump');
  expect(newestOfAllAway([entry('arm'), entry('pump', 'online')], nodes)).toBeUndefined();
  expect(newestOfAllAway([undefined], nodes)).toBeUndefined();
});
