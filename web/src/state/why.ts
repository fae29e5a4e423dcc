import { signal } from '@preact/signals';
import type { Alarm } from '../alarms/alarm.ts';
import type { Entry } from '../alarms/journal.ts';
import { openDialog } from './dialogs.ts';

/** The entry of the journal, or the alarm, that the dialog explains. */
export type Explained =
  | { readonly of: 'entry'; readonly entry: Entry }
  | { readonly of: 'alarm'; readonly alarm: Alarm };

export const explained = signal<Explained | undefined>(undefined);

export function explainEntry(entry: Entry): void {
  explained.value = { of: 'entry', entry };
  openDialog.value = 'why';
}

export function explainAlarm(alarm: Alarm): void {
  explained.value = { of: 'alarm', alarm };
  openDialog.value = 'why';
}
