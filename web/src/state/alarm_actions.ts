import { computed } from '@preact/signals';
import { type Alarm, parseAlarm } from '../alarms/alarm.ts';
import { alarmBook } from '../alarms/book.ts';
import { fetchJson, Refusal } from '../api/api.ts';
import { isFields, listOf } from '../wire/fields.ts';
import { who } from './session.ts';

/** Whether the user may act on some alarms. The DAC decides for each of them. */
export const mayAct = computed(() => who.value?.verbs.includes('alarms') ?? false);

/** What an operator does with an alarm (http-api.md). */
export type AlarmAction =
  | {
      readonly action:
        | 'acknowledge'
        | 'unshelve'
        | 'suppress'
        | 'unsuppress'
        | 'out-of-service'
        | 'in-service';
    }
  /** For a time, or until it clears. */
  | { readonly action: 'shelve'; readonly seconds?: number; readonly once?: boolean };

/** Characters; the DAC takes 1,024 bytes. */
export const MAX_COMMENT = 250;
/** Choices of a time to shelve an alarm, in seconds. */
export const SHELVE_SECONDS = [900, 3600, 8 * 3600] as const;
/** Longest time that the form takes, in minutes. */
export const MAX_SHELVE_MINUTES = 7 * 24 * 60;

/** Sends an action and shows the alarm as the DAC answers it. */
export async function act({ rule, node, instance }: Alarm, action: AlarmAction, comment = ''): Promise<void> {
  const written = comment.trim();
  const body = { rule, node, instance, ...action, ...(written && { comment: written }) };
  const answer = parseAlarm(
    await fetchJson('POST', 'alarms/actions', { body }).catch((error) => {
      // Another page was faster. A comment that the DAC has not taken is worth an error.
      const isDone = error instanceof Refusal && error.code === 'alarm_state' && written === '';
      if (isDone) return readAlarm(rule, node, instance);
      throw error;
    }),
  );
  // The stream may have brought a later change already.
  if (!answer || (alarmBook.peek().get(answer.key)?.revision ?? 0) > answer.revision) return;
  alarmBook.value = new Map(alarmBook.peek()).set(answer.key, answer);
}

async function readAlarm(rule: string, node: string, instance: string): Promise<unknown> {
  const query = new URLSearchParams({ state: 'all', rule, node, instance });
  const answer = await fetchJson('GET', `alarms?${query}`);
  return isFields(answer) ? listOf(answer.alarms)[0] : undefined;
}

/** Acknowledges several alarms one after another. Throws the first error, after all have been tried. */
export async function acknowledgeAll(alarms: readonly Alarm[]): Promise<void> {
  const problems: unknown[] = [];
  for (const alarm of alarms)
    await act(alarm, { action: 'acknowledge' }).catch((error) => problems.push(error));
  if (problems.length > 0) throw problems[0];
}
