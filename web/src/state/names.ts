import { computed } from '@preact/signals';
import { tellingWords } from '../format/name_parts.ts';
import type { Target } from '../wire/target.ts';
import { sameComputed } from './same_computed.ts';
import { registry } from './store.ts';

/** Names of instances that several nodes have. */
const shared = sameComputed(() => {
  const nodes = new Map<string, string>();
  const found = new Set<string>();
  for (const { instance, node } of registry.value?.instances ?? []) {
    const other = nodes.get(instance);
    if (other !== undefined && other !== node) found.add(instance);
    nodes.set(instance, node);
  }
  return [...found].sort();
});

export const sharedNames = computed(() => new Set(shared.value));

const telling = sameComputed(() => {
  const { nodes = [], instances = [] } = registry.value ?? {};
  return [...tellingWords([...nodes.map(({ name }) => name), ...instances.map(({ instance }) => instance)])];
});

/** Words that tell the names of nodes and instances apart; they stay where a name is cut. */
export const tellingNames = computed(() => new Set(telling.value));

/** Returns an instance's name for places without its node. Adds the node if other nodes have an instance of that name. */
export function nameOf({ node, instance }: Target): string {
  return sharedNames.value.has(instance) ? `${instance} (${node})` : instance;
}
