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

/** Maximum length of what is typed before the palette has its field. */
const MAX_TYPED_LENGTH = 200;

/** The dialog that is open. */
export const openDialog = signal<DialogName | undefined>(undefined);

/** What was typed for the palette before its field was there. */
let typed = '';

/** Keeps a letter for the palette; returns whether the key is one that it takes. */
export function typeAhead({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey) return false;
  if (key === 'Escape') [typed, openDialog.value] = ['', undefined];
  else if (key === 'Backspace') typed = typed.slice(0, -1);
  else if ([...key].length === 1 && typed.length < MAX_TYPED_LENGTH) typed += key;
  else return false;
  return true;
}

/** Returns what was typed for the palette, once. */
export function takeTyped(): string {
  const text = typed;
  typed = '';
  return text;
}
