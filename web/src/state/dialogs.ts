import { signal } from '@preact/signals';

export type DialogName = 'help' | 'add' | 'layout' | 'note';

/** The dialog that is open. */
export const openDialog = signal<DialogName | undefined>(undefined);
