import { computed } from '@preact/signals';
import type { InstanceEntry, NodeEntry } from '../stream/protocol.ts';
import { isGone, isGoneListOpen } from './away.ts';
import { filter, registry } from './store.ts';

/** A line of the list of instances. */
export type TreeRow =
  | { readonly kind: 'node'; readonly key: string; readonly node: NodeEntry; readonly count: number }
  | { readonly kind: 'instance'; readonly key: string; readonly entry: InstanceEntry }
  /** Expands the nodes that have been offline for long. */
  | { readonly kind: 'gone'; readonly key: string; readonly nodes: number; readonly isOpen: boolean };

/**
 * Nodes, each with its instances, of those that the filter lets through: first what is there, then what was until a moment ago. What has
 * been gone for long is folded away, but for a filter that finds it, or if there is nothing else.
 */
export const treeRows = computed<readonly TreeRow[]>(() => {
  const { nodes = [], instances = [] } = registry.value ?? {};
  const words = filter.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const byNode = new Map<string, InstanceEntry[]>(nodes.map(({ name }) => [name, []]));
  for (const entry of instances) {
    const isWanted =
      words.length === 0 || matches(`${entry.node} ${entry.instance} ${entry.type}`.toLowerCase(), words);
    if (isWanted) byNode.get(entry.node)?.push(entry);
  }
  const ownOf = ({ name }: NodeEntry) => byNode.get(name) ?? [];
  const wanted = nodes.filter((node) => words.length === 0 || ownOf(node).length > 0);
  const rowsOf = (node: NodeEntry): TreeRow[] => [
    { kind: 'node', key: `n ${node.name}`, node, count: ownOf(node).length },
    ...ownOf(node).map((entry) => ({
      kind: 'instance' as const,
      key: `i ${entry.id} ${entry.instance}`,
      entry,
    })),
  ];
  const online = wanted.filter(({ state }) => state === 'online');
  const missed = wanted.filter((node) => node.state !== 'online' && !isGone(node));
  const gone = wanted.filter(isGone).sort((one, other) => other.since - one.since);
  const rows = [...online, ...missed].flatMap(rowsOf);
  if (gone.length === 0) return rows;
  const isOpen = words.length > 0 || (isGoneListOpen.value ?? rows.length === 0);
  return [
    ...rows,
    { kind: 'gone', key: 'gone', nodes: gone.length, isOpen },
    ...(isOpen ? gone.flatMap(rowsOf) : []),
  ];
});

function matches(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word));
}
