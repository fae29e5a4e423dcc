import { computed, effect } from '@preact/signals';
import type { Severity } from '../alarms/alarm.ts';
import { alarmSource, attentionCount, worstAttention } from '../alarms/book.ts';
import { unseen } from '../alarms/tab_alarms.ts';
import { strings } from '../strings/strings.ts';
import { dashboard, isChanged } from './dashboard.ts';

/** Alarms that need attention: those of the DAC, or else those of this tab. */
export const openAlarms = computed(() =>
  alarmSource.value.kind === 'server' ? attentionCount.value : unseen.value,
);

/** The worst severity among them; undefined if there is none. */
export const worstOpen = computed<Severity | undefined>(() => {
  if (alarmSource.value.kind === 'server') return worstAttention.value;
  return unseen.value > 0 ? 'high' : undefined;
});

/** Shows the name of the dashboard and the number of alarms that need attention in the tab's title. */
export function startTitle(): void {
  effect(() => {
    const count = openAlarms.value;
    const title = count === 0 ? strings.title : strings.alarms.tab(count);
    const name = dashboard.value?.name;
    document.title = name === undefined ? title : `${isChanged.value ? '* ' : ''}${name} - ${title}`;
  });
}
