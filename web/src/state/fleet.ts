import { defaultFleet } from '../fleet/settings.ts';
import { activeDock } from './active_dock.ts';
import { openPanel, panels, revealed } from './panels.ts';

/** Opens a fleet of everything, or brings the one that is open to the front. */
export function openFleet(): void {
  const found =
    panels.peek().find((spec) => spec.kind === 'fleet') ?? openPanel({ kind: 'fleet', ...defaultFleet });
  activeDock()?.focus(found.id);
  revealed.value = { id: found.id };
}
