import { beforeEach, expect, it } from 'vitest';
import type { InstanceEntry, NodeEntry } from '../stream/protocol.ts';
import { isGoneListOpen } from './away.ts';
import { now } from './now.ts';
import { filter, registry } from './store.ts';
import { isRuleListOpen, treeRows } from './tree.ts';

const HOUR = 3_600_000;

function nodes(...of: [name: string, state: string, hoursAgo: number][]): void {
  const nodes = of.map(
    ([name, state, ago]) => ({ name, state, since: now.peek() - ago * HOUR }) as NodeEntry,
  );
  const instances = nodes.map(
    ({ name, state }, id) => ({ id, node: name, instance: `i-${name}`, type: 'T', state }) as InstanceEntry,
  );
  registry.value = { nodes, instances };
}

const shown = () =>
  treeRows.value.map((row) => {
    if (row.kind === 'node') return row.node.name;
    if (row.kind === 'rules') return `${row.count} of rules`;
    return row.kind === 'gone' ? `${row.nodes} gone` : row.entry.instance;
  });

beforeEach(() => {
  filter.value = '';
  isGoneListOpen.value = undefined;
  isRuleListOpen.value = false;
});

it('folds away what rules compute, but for a filter that finds it and for what is watched', () => {
  const node = { name: 'rules', state: 'online', since: 0 } as NodeEntry;
  const instances = ['Hot', 'Silent'].map(
    (instance, id) =>
      ({ id, node: 'rules', instance, type: 'OASIS::Rules::Results', state: 'online' }) as InstanceEntry,
  );
  registry.value = { nodes: [node], instances };
  expect(shown()).toEqual(['rules', '2 of rules']);
  isRuleListOpen.value = true;
  expect(shown()).toEqual(['rules', '2 of rules', 'Hot', 'Silent']);
  isRuleListOpen.value = false;
  filter.value = 'hot';
  expect(shown()).toEqual(['rules', 'Hot']);
});

it('lists what is there before what was until a moment ago, and folds away what has been gone for long', () => {
  nodes(['a', 'offline', 900], ['b', 'offline', 0.1], ['c', 'online', 5], ['d', 'offline', 2]);
  expect(shown()).toEqual(['c', 'i-c', 'b', 'i-b', '2 gone']);
  isGoneListOpen.value = true;
  expect(shown()).toEqual(['c', 'i-c', 'b', 'i-b', '2 gone', 'd', 'i-d', 'a', 'i-a']);
});

it('finds what is folded away, and folds nothing away if there is nothing else', () => {
  nodes(['a', 'offline', 900], ['c', 'online', 5]);
  filter.value = 'i-a';
  expect(shown()).toEqual(['1 gone', 'a', 'i-a']);
  filter.value = '';
  nodes(['a', 'offline', 900]);
  expect(shown()).toEqual(['1 gone', 'a', 'i-a']);
  isGoneListOpen.value = false;
  expect(shown()).toEqual(['1 gone']);
});
