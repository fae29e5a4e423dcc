import { computed, effect } from '@preact/signals';
import { alarmSource } from '../alarms/book.ts';
import { strings } from '../strings/strings.ts';
import { who } from './session.ts';
import { isConnected } from './store.ts';

/** Keeps the alarms of the DAC up to date while the page is connected. A DAC without alarms costs no request. */
export function followAlarms(): void {
  // Another answer of the same content changes nothing.
  const hasAlarms = computed(() => who.value && who.value.hasAlarms === true);
  effect(() => {
    if (!isConnected.value || hasAlarms.value === undefined) return;
    if (!hasAlarms.value) {
      alarmSource.value = { kind: 'tab', reason: strings.alarms.noAlarms };
      return;
    }
    const end = new AbortController();
    // Without this code there are no alarms; the next connection loads it again.
    import('../alarms/feed.ts').then(({ readAlarms }) => readAlarms(end.signal)).catch(() => {});
    return () => end.abort();
  });
}
