import { signal } from '@preact/signals';
import { activeDock } from '../state/active_dock.ts';
import { openDialog } from '../state/dialogs.ts';
import type { PanelKind } from '../state/panel_kinds.ts';
import { panels } from '../state/panels.ts';

/** What the help dialog is about: a kind of panel, or a section of the reference. */
export type Topic = { readonly panel: PanelKind } | { readonly section: string };

export const topic = signal<Topic>({ section: 'panels' });

export function openTopic(wanted: Topic): void {
  topic.value = wanted;
  openDialog.value = 'topic';
}

/** Help on the active panel; without one, on panels. */
export function openPanelHelp(): void {
  const id = activeDock()?.activeId;
  const spec = panels.peek().find((candidate) => candidate.id === id);
  openTopic(spec ? { panel: spec.kind } : { section: 'panels' });
}
