import { signal } from '@preact/signals';
import { keyOf } from '../wire/target.ts';
import { dashboard } from './dashboard.ts';
import { shownTargets } from './panels.ts';
import { entryOf, nodeOf, registry } from './registry.ts';
import { sameComputed } from './same_computed.ts';
import { isConnected } from './store.ts';
import { isWanted, wanted } from './wanted.ts';

/** Something that address or layout name, and that the DAC does not know. */
export type Unknown =
  | { readonly kind: 'node'; readonly name: string }
  | { readonly kind: 'instance'; readonly name: string; readonly node: string | undefined }
  | { readonly kind: 'run'; readonly name: string };

/** The test run of the address, if there is none of this name. */
export const unknownRun = signal<string | undefined>(undefined);

/** What the DAC does not know of what the page is to show. */
export const unknownNames = sameComputed((): readonly Unknown[] => {
  if (!registry.value || !isConnected.value) return [];
  const found = new Map<string, Unknown>();
  const add = (unknown: Unknown) => found.set(keyOfUnknown(unknown), unknown);
  const addNode = (name: string) => !nodeOf(name) && add({ kind: 'node', name });
  const ofDashboard = dashboard.value?.node;
  if (ofDashboard) addNode(ofDashboard);
  else if (wanted.value.node !== undefined) addNode(wanted.value.node);
  const { node, instance } = wanted.value;
  if (instance !== undefined && !registry.value.instances.some(isWanted))
    add({ kind: 'instance', name: instance, node });
  for (const target of shownTargets.value) {
    if (!nodeOf(target.node)) addNode(target.node);
    else if (!entryOf(target)) add({ kind: 'instance', name: target.instance, node: target.node });
  }
  if (unknownRun.value !== undefined) add({ kind: 'run', name: unknownRun.value });
  // An instance of an unknown node says nothing more.
  const nodes = new Set([...found.values()].flatMap((each) => (each.kind === 'node' ? each.name : [])));
  return [...found.values()].filter((each) => each.kind !== 'instance' || !nodes.has(each.node ?? ''));
});

/** Returns a text that is the same for equal names only. */
export function keyOfUnknown(unknown: Unknown): string {
  const { kind, name } = unknown;
  const node = kind === 'instance' ? (unknown.node ?? '') : '';
  return `${kind} ${keyOf({ node, instance: name })}`;
}
