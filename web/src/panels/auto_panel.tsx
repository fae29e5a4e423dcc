import { useEffect } from 'preact/hooks';
import { changePanel, openPanels } from '../state/panels.ts';
import { cellsOf } from '../state/store.ts';
import type { Target } from '../stream/view.ts';
import { planPanels } from './plan.ts';
import { Waiting } from './waiting.tsx';

/** Waits for an instance's schema, then becomes the panel that suits it best; the others that suit it open in tabs after it. */
export function AutoPanel({ id, target }: { id: string; target: Target }) {
  const { schema } = cellsOf(target).status.value ?? {};
  useEffect(() => {
    if (!schema) return;
    const [best, ...others] = planPanels(target, schema);
    changePanel(id, best);
    openPanels(others);
  }, [id, target, schema]);
  return <Waiting target={target} />;
}
