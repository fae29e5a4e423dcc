import { computed, signal } from '@preact/signals';
import type { InstanceEntry, NodeEntry } from '../stream/protocol.ts';
import { keyOf } from '../wire/target.ts';
import { isGone, isGoneListOpen } from './away.ts';
import { OF_RULES } from './choice.ts';
import { labelsOf, pairsOf } from './labels.ts';
import { findMetric, schemaOf } from './schemas.ts';
import { chosenKeys, filter, registry } from './store.ts';

/** A line of the list of instances. */
export type TreeRow =
  | { readonly kind: 'node'; readonly node: NodeEntry; readonly count: number }
  | {
      readonly kind: 'instance';
      readonly entry: InstanceEntry;
      /** The metric that the filter has found, if the names of the instance do not match without it. */
      readonly metric: string | undefined;
    }
  /** Expands the instances of a node that the DAC computes by rules. */
  | { readonly kind: 'rules'; readonly node: string; readonly count: number; readonly isOpen: boolean }
  /** Expands the nodes that have been offline for long. */
  | { readonly kind: 'gone'; readonly nodes: number; readonly isOpen: boolean };

/** Whether the list shows the instances that the DAC computes by rules. */
export const isRuleListOpen = signal(false);

/** Returns a text that no other row has. Only visible rows need one. */
export function keyOfRow(row: TreeRow): string {
  switch (row.kind) {
    case 'node':
      return `n ${row.node.name}`;
    case 'instance':
      return `i ${row.entry.id} ${row.entry.instance}`;
    case 'rules':
      return `r ${row.node}`;
    case 'gone':
      return 'gone';
  }
}

/**
 * Nodes, each with its instances, of those that the filter lets through: first what is there, then what was until a moment ago. What has
 * been gone for long is folded away, but for a filter that finds it, or if there is nothing else. Instances of rules are folded away, too.
 */
export const treeRows = computed<readonly TreeRow[]>(() => {
  const { nodes = [], instances = [] } = registry.value ?? {};
  const words = wordsOf(filter.value);
  const byNode = new Map<string, TreeMatch[]>(nodes.map(({ name }) => [name, []]));
  for (const entry of instances) {
    const found = search(entry, words);
    if (found) byNode.get(entry.node)?.push(found);
  }
  const ownOf = ({ name }: NodeEntry) => byNode.get(name) ?? [];
  const wanted = nodes.filter((node) => words.length === 0 || ownOf(node).length > 0);
  const isFolded = ({ entry }: TreeMatch) => words.length === 0 && entry.type.startsWith(OF_RULES);
  const rowsOf = (node: NodeEntry): TreeRow[] => {
    const own = ownOf(node);
    const folded = own.filter(isFolded);
    // Whoever watches one of them can see and stop it.
    const isRow = (found: TreeMatch) =>
      !isFolded(found) || isRuleListOpen.value || chosenKeys.value.has(keyOf(found.entry));
    const rows = own.filter(isRow).map((found) => ({ kind: 'instance' as const, ...found }));
    const head = { kind: 'node' as const, node, count: own.length };
    if (folded.length === 0) return [head, ...rows];
    return [
      head,
      { kind: 'rules', node: node.name, count: folded.length, isOpen: isRuleListOpen.value },
      ...rows,
    ];
  };
  const online = wanted.filter(({ state }) => state === 'online');
  const missed = wanted.filter((node) => node.state !== 'online' && !isGone(node));
  const gone = wanted.filter(isGone).sort((one, other) => other.since - one.since);
  const rows = [...online, ...missed].flatMap(rowsOf);
  if (gone.length === 0) return rows;
  const isOpen = words.length > 0 || (isGoneListOpen.value ?? rows.length === 0);
  return [...rows, { kind: 'gone', nodes: gone.length, isOpen }, ...(isOpen ? gone.flatMap(rowsOf) : [])];
});

interface TreeMatch {
  readonly entry: InstanceEntry;
  readonly metric: string | undefined;
}

/** Searches for all words in the names of an instance and of its metrics. */
export function search(entry: InstanceEntry, words: readonly string[]): TreeMatch | undefined {
  if (words.length === 0) return { entry, metric: undefined };
  const names = `${entry.node} ${entry.instance} ${entry.type}`.toLowerCase();
  const labels = pairsOf(labelsOf(entry)).join(' ').toLowerCase();
  const others = words.filter((word) => !names.includes(word) && !labels.includes(word));
  if (others.length === 0) return { entry, metric: undefined };
  const schema = schemaOf(entry);
  const metrics = others.map((word) => findMetric(schema, word));
  const [first] = metrics;
  return metrics.includes(undefined) ? undefined : { entry, metric: first?.label ?? first?.name };
}

/** Splits what somebody has typed into words in lower case. */
export function wordsOf(typed: string): string[] {
  return typed.trim().toLowerCase().split(/\s+/).filter(Boolean);
}
