import { lazy } from '../../components/lazy.tsx';
import { describeSingle } from '../shared/single.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    readonly rules: Record<never, never>;
  }
}

export const rules = describeSingle({
  kind: 'rules',
  name: 'Rules',
  about: 'Rules for alarms, events, checks and computed channels: write, check, preview and save them.',
  // Rules are written beside the charts that show what they do.
  place: 'roomiest',
  Panel: lazy(async () => (await import('./rules_panel.tsx')).RulesPanel),
});
