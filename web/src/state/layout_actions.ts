import { fileName, saveFile } from '../panels/save_file.ts';
import { openDefault } from './actions.ts';
import { defaultChoice } from './choice.ts';
import { applyLayout, currentLayout } from './saved.ts';
import { registry } from './store.ts';

/** Saves the layout as a file. */
export function exportLayout(): void {
  const text = JSON.stringify(currentLayout(), null, 2);
  saveFile(fileName('oasis-layout', 'json'), new Blob([text], { type: 'application/json' }));
}

/** Closes all panels, and opens those that a first visit opens. */
export function resetLayout(): void {
  applyLayout({ oasis: 'layout', version: 1, panels: [], range: { live: true, span: 60_000 } });
  openDefault(defaultChoice(registry.peek()?.instances ?? []).targets);
}
