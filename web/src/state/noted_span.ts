import { signal } from '@preact/signals';
import { openDialog } from './dialogs.ts';

/** The span that the dialog of notes begins with; undefined for the moment under the pointer. */
export const notedSpan = signal<readonly [from: number, to: number] | undefined>(undefined);

export function noteSpan(from: number, to: number): void {
  notedSpan.value = [from, to];
  openDialog.value = 'note';
}
