import { computed } from '@preact/signals';
import type { Target } from '../stream/view.ts';
import { registry } from './store.ts';

/** Names of instances that several nodes have; as text, so that a registry that says nothing new changes nothing. */
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

/** What an instance is called where its node is not said: with its node, if others have one of that name. */
export function nameOf({ node, instance }: Target): string {
  return sharedNames.value.has(instance) ? `${instance} (${node})` : instance;
}
