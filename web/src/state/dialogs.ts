import { signal } from '@preact/signals';

export type DialogName =
  | 'help'
  | 'add'
  | 'layout'
  | 'note'
  | 'control'
  | 'labels'
  | 'moment'
  | 'accounts'
  | 'password'
  | 'audit-log'
  | 'dacs'
  | 'why'
  | 'gap'
  | 'settings'
  | 'sample-export'
  | 'import'
  | 'palette'
  | 'topic'
  | 'preferences';

/** The dialog that is open. */
export const openDialog = signal<DialogName | undefined>(undefined);
