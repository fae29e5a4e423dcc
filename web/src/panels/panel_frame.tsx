import type { Signal } from '@preact/signals';
import { findPanel } from '../state/panels.ts';
import { theme } from '../state/theme.ts';
import { AutoPanel } from './auto_panel.tsx';
import { InstancePanel } from './instance_panel.tsx';
import { SeriesPanel } from './series_panel.tsx';
import type { PanelSpec } from './spec.ts';
import { Visible } from './visible.ts';

/** A panel's content, chosen by what it shows. */
export function PanelFrame({ id, isVisible }: { id: string; isVisible: Signal<boolean> }) {
  const spec = findPanel(id);
  if (!spec) return null;
  return (
    <Visible.Provider value={isVisible}>
      <Body key={`${theme.value} ${JSON.stringify(spec)}`} spec={spec} />
    </Visible.Provider>
  );
}

function Body({ spec }: { spec: PanelSpec }) {
  switch (spec.kind) {
    case 'instance':
      return <InstancePanel target={spec.target} />;
    case 'auto':
      return <AutoPanel id={spec.id} target={spec.target} />;
    case 'series':
      return <SeriesPanel spec={spec} />;
    default:
      return null;
  }
}
