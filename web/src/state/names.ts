import { computed } from '@preact/signals';
import { tellingWords } from '../format/name_parts.ts';
import type { Target } from '../wire/target.ts';
import { registry } from './store.ts';

/** Names of instances that several nodes have. It is text, so that an equal registry causes no change. */
const shared = computed(() => {
  const nodes = new Map<string, string>();
  const found = new Set<string>();
  for (const { instance, node } of registry.value?.instances ?? []) {
    const other = nodes.get(instance);
    if (other !== undefined && other !== node) found.add(instance);
    nodes.set(instance, node);
  }
  return JSON.stringify([...found].sort());
});

export const sharedNames = computed(() => new Set(JSON.parse(shared.value) as string[]));

const telling = computed(() => {
  const { nodes = [], instances = [] } = registry.value ?? {};
  return JSON.stringify([
    ...tellingWords([...nodes.map(({ name }) => name), ...instances.map(({ instance }) => instance)]),
  ]);
});

/** Words that tell the names of nodes and instances apart; they stay where a name is cut. */
export const tellingNames = computed(() => new Set(JSON.parse(telling.value) as string[]));

/** Returns an instance's name for places without its node. Adds the node if other nodes have an instance of that name. */
export function nameOf({ node, instance }: Target): string {
  return sharedNames.value.has(instance) ? `${instance} (${node})` : instance;
}
