import { openDefault } from './actions.ts';
import { defaultChoice } from './choice.ts';
import { applyLayout } from './saved.ts';
import { registry } from './store.ts';

/** Closes all panels, and opens those that a first visit opens. */
export function resetLayout(): void {
  applyLayout({ oasis: 'layout', version: 1, panels: [], range: { live: true, span: 60_000 } });
  openDefault(defaultChoice(registry.peek()?.instances ?? []).targets);
}
