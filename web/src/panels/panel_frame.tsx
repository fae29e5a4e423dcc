import type { Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { InnerPanel } from '../components/inner_panel.ts';
import { Visible } from '../components/visible.ts';
import type { PanelSpec } from '../state/panel_kinds.ts';
import { findPanel } from '../state/panels.ts';
import { isSame } from '../wire/same.ts';
import { descriptionOf } from './descriptions.ts';

/** A panel's content, drawn by its kind. */
export function PanelFrame({ id, isVisible }: { id: string; isVisible: Signal<boolean> }) {
  const spec = findPanel(id);
  if (!spec) return null;
  return (
    <Visible.Provider value={isVisible}>
      <InnerPanel.Provider value={Body}>
        <Body spec={spec} />
      </InnerPanel.Provider>
    </Visible.Provider>
  );
}

function Body({ spec }: { spec: PanelSpec }) {
  const { Panel } = descriptionOf(spec.kind);
  return <Panel key={useBeginnings(spec)} spec={spec} />;
}

/** Counts how often the panel has begun anew: for each other content, but for a panel that continues. */
function useBeginnings(spec: PanelSpec): number {
  const shown = useRef({ spec, count: 0 });
  const { spec: before, count } = shown.current;
  const isContinued =
    before.kind === spec.kind && (descriptionOf(spec.kind).isContinued || isSame(before, spec));
  shown.current = { spec, count: isContinued ? count : count + 1 };
  return shown.current.count;
}
