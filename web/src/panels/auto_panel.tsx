import { useEffect } from 'preact/hooks';
import { changePanel, openPanels } from '../state/panels.ts';
import { cellsOf } from '../state/store.ts';
import type { Target } from '../stream/view.ts';
import { strings } from '../strings.ts';
import { planPanels } from './plan.ts';

/** Waits for an instance's schema, then becomes the panel that suits it best; the others that suit it open behind it. */
export function AutoPanel({ id, target }: { id: string; target: Target }) {
  const { schema, problem, status } = cellsOf(target).status.value ?? {};
  useEffect(() => {
    if (!schema) return;
    const [best, ...others] = planPanels(target, schema);
    changePanel(id, best);
    openPanels(others);
  }, [id, target, schema]);
  const waiting =
    status === 'absent' ? strings.card.stateTip.absent : strings.panels.waiting(target.instance);
  return <p class="panel-empty">{problem ?? waiting}</p>;
}
