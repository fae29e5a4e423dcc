import { computed } from '@preact/signals';
import type { InstanceEntry, NodeEntry } from '../stream/protocol.ts';
import { filter, registry } from './store.ts';

/** A line of the list of instances. */
export type TreeRow =
  | { readonly kind: 'node'; readonly key: string; readonly node: NodeEntry; readonly count: number }
  | { readonly kind: 'instance'; readonly key: string; readonly entry: InstanceEntry };

/** Nodes, each with its instances, of those that the filter lets through. */
export const treeRows = computed<readonly TreeRow[]>(() => {
  const { nodes = [], instances = [] } = registry.value ?? {};
  const words = filter.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const byNode = new Map<string, InstanceEntry[]>(nodes.map(({ name }) => [name, []]));
  for (const entry of instances) {
    const isWanted =
      words.length === 0 || matches(`${entry.node} ${entry.instance} ${entry.type}`.toLowerCase(), words);
    if (isWanted) byNode.get(entry.node)?.push(entry);
  }
  return nodes.flatMap((node): TreeRow[] => {
    const own = byNode.get(node.name) ?? [];
    if (words.length > 0 && own.length === 0) return [];
    return [
      { kind: 'node', key: `n ${node.name}`, node, count: own.length },
      ...own.map((entry) => ({ kind: 'instance' as const, key: `i ${entry.id} ${entry.instance}`, entry })),
    ];
  });
});

function matches(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word));
}
