import { signal } from '@preact/signals';
import { fetchJson } from '../api/api.ts';
import { type Labels, NO_LABELS } from '../wire/settings.ts';
import type { Target } from '../wire/target.ts';
import { openDialog } from './dialogs.ts';
import { entryOf, nodeOf } from './registry.ts';

/** The instance whose labels the dialog shows, with those of its node. */
export const labeled = signal<Target | undefined>(undefined);

export function editLabels({ node, instance }: Target): void {
  labeled.value = { node, instance };
  openDialog.value = 'labels';
}

/** The labels of an instance, with those of its node, which its own replace. */
export function labelsOf(target: Target): Labels {
  const own = entryOf(target)?.labels ?? NO_LABELS;
  const node = nodeOf(target.node)?.labels ?? NO_LABELS;
  if (node === NO_LABELS) return own;
  return own === NO_LABELS ? node : { ...node, ...own };
}

/** `key=value` of each label, in the order of their keys. */
export function pairsOf(labels: Labels): string[] {
  if (labels === NO_LABELS) return [];
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .sort();
}

/** Sets labels of an instance or of a node; null removes one. Throws an error whose message is shown. */
export async function setLabels(
  of: { readonly node: string; readonly instance?: string },
  labels: Readonly<Record<string, string | null>>,
): Promise<void> {
  await fetchJson('PATCH', 'labels', { body: { ...of, labels } });
}
