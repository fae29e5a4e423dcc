import { signal } from '@preact/signals';

export type DialogName = 'help' | 'add' | 'layout' | 'note' | 'control' | 'moment' | 'accounts' | 'password';

/** The dialog that is open. */
export const openDialog = signal<DialogName | undefined>(undefined);
