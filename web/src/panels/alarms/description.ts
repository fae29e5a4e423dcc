import { lazy } from '../../components/lazy.tsx';
import { describeSingle } from '../shared/single.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    readonly alarms: Record<never, never>;
  }
}

export const alarms = describeSingle({
  kind: 'alarms',
  name: 'Alarms',
  about: 'Warnings and alarms.',
  Panel: lazy(async () => (await import('./alarms_panel.tsx')).AlarmsPanel),
});
