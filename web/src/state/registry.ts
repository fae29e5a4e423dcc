import { signal } from '@preact/signals';
import type { InstanceEntry, NodeEntry, Registry } from '../stream/protocol.ts';
import type { RegistryChange } from '../stream/view.ts';
import { keyOf, type Target } from '../wire/target.ts';

/** Nodes by name and instances by number; undefined until they have arrived. */
export const registry = signal<Registry | undefined>(undefined);

const nodes = new Map<string, NodeEntry>();
const instances = new Map<number, InstanceEntry>();
/** By names: kept up to date by changes, because there may be 20,000. */
const byKey = new Map<string, InstanceEntry>();

/** Applies changes. They cost as much as they are long, and the sorted lists. */
export function applyRegistry(change: RegistryChange): void {
  if (change.isWhole) for (const map of [nodes, instances, byKey]) map.clear();
  for (const name of change.goneNodes) nodes.delete(name);
  for (const id of change.goneInstances) forget(id);
  for (const node of change.nodes) nodes.set(node.name, node);
  for (const entry of change.instances) {
    instances.set(entry.id, entry);
    byKey.set(keyOf(entry), entry);
  }
  registry.value = {
    nodes: [...nodes.values()].sort((one, other) => (one.name < other.name ? -1 : 1)),
    instances: inOrder([...instances.values()]),
  };
}

/** Sorts by node, then by the order of registration. Comparing 20,000 numbers is cheaper than as many names. */
function inOrder(entries: InstanceEntry[]): InstanceEntry[] {
  const byNode = new Map<string, InstanceEntry[]>();
  for (const entry of entries.sort((one, other) => one.id - other.id)) {
    const known = byNode.get(entry.node);
    if (known) known.push(entry);
    else byNode.set(entry.node, [entry]);
  }
  const sorted = [...byNode].sort(([one], [other]) => (one < other ? -1 : 1));
  return sorted.flatMap(([, found]) => found);
}

/** Returns the entry of an instance; reading it in a computed value follows changes. */
export function entryOf(target: Target): InstanceEntry | undefined {
  return registry.value && byKey.get(keyOf(target));
}

/** Returns a node by name, likewise. */
export function nodeOf(name: string): NodeEntry | undefined {
  return registry.value && nodes.get(name);
}

function forget(id: number): void {
  const entry = instances.get(id);
  if (!entry) return;
  instances.delete(id);
  // Another topic may have the name now.
  if (byKey.get(keyOf(entry)) === entry) byKey.delete(keyOf(entry));
}
