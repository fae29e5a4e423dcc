import { useComputed } from '@preact/signals';
import { isOldNews } from '../state/command_news.ts';
import { now } from '../state/now.ts';
import type { InstanceCells } from '../state/store.ts';
import type { CommandView } from '../stream/view.ts';

/** The last command of an instance, until its end is old news: the list of commands has it longer. */
export function useFreshResult(cells: InstanceCells): CommandView | undefined {
  return useComputed(() => {
    const view = cells.command.value;
    return view && isOldNews(view, now.value) ? undefined : view;
  }).value;
}
