import { useEffect } from 'preact/hooks';
import { Waiting } from '../../components/waiting.tsx';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { changePanel, openPanels } from '../../state/panels.ts';
import { cellsOf } from '../../state/store.ts';
import { planPanels } from './plan.ts';

/** Waits for an instance's schema, then becomes the panel that suits it best; the others that suit it open in tabs after it. */
export function AutoPanel({ spec: { id, target } }: { spec: SpecOf<'auto'> }) {
  const { schema } = cellsOf(target).status.value ?? {};
  useEffect(() => {
    if (!schema) return;
    const [best, ...others] = planPanels(target, schema);
    changePanel(id, best);
    openPanels(others);
  }, [id, target, schema]);
  return <Waiting target={target} />;
}
