import { useComputed } from '@preact/signals';
import { now } from '../state/now.ts';
import type { InstanceCells } from '../state/store.ts';
import type { CommandView } from '../stream/view.ts';

/** Milliseconds for which the end of a command is shown: what failed may have to be read twice. */
const SHOWN_MS = { done: 30_000, failed: 300_000 };

/** The last command of an instance, until its end is old news: the list of commands has it longer. */
export function useFreshResult(cells: InstanceCells): CommandView | undefined {
  return useComputed(() => {
    const view = cells.command.value;
    if (!view || view.status === 'pending') return view;
    return now.value - view.since > SHOWN_MS[view.status] ? undefined : view;
  }).value;
}
