import { lazy } from '../../components/lazy.tsx';
import { describeSingle } from '../shared/single.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    readonly ledger: Record<never, never>;
  }
}

export const ledger = describeSingle({
  kind: 'ledger',
  name: 'Ledger',
  about: 'Received and missing samples, causes, and the time of each hop.',
  Panel: lazy(async () => (await import('./ledger_panel.tsx')).LedgerPanel),
});
