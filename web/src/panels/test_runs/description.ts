import { lazy } from '../../components/lazy.tsx';
import { describeSingle } from '../shared/single.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    readonly 'test-runs': Record<never, never>;
  }
}

export const testRuns = describeSingle({
  kind: 'test-runs',
  name: 'Test runs',
  about: 'Named spans of time: start, stop, show and compare them.',
  Panel: lazy(async () => (await import('./test_runs_panel.tsx')).TestRunsPanel),
});
