import { lazy } from '../../components/lazy.tsx';
import { describeSingle } from '../shared/single.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    readonly 'alarm-history': Record<never, never>;
  }
}

export const alarmHistory = describeSingle({
  kind: 'alarm-history',
  name: 'Alarm history',
  about: 'What happened to alarms, and how often: entries with filters, and statistics.',
  Panel: lazy(async () => (await import('./alarm_history_panel.tsx')).AlarmHistoryPanel),
});
