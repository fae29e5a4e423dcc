import { applyLayout } from '../layout/saved.ts';
import { openDefault } from '../state/actions.ts';
import { byRegistration, defaultChoice } from '../state/choice.ts';
import { registry } from '../state/store.ts';

/** Closes all panels, and opens those that a first visit opens. */
export function resetLayout(): void {
  applyLayout({ oasis: 'layout', version: 1, panels: [], range: { live: true, span: 60_000 } });
  openDefault(defaultChoice(byRegistration(registry.peek()?.instances ?? [])).targets);
}
