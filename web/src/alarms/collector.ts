import { isFields } from '../wire/fields.ts';
import { type Alarm, needsAttention, parseAlarm } from './alarm.ts';
import { alarmBook, leftOut } from './book.ts';

/** More alarms than this are not kept. */
export const MAX_ALARMS = 20_000;

/** Collects changes, and shows them together: one drawing for many. */
export class AlarmBook {
  private entries = new Map<string, Alarm>();
  /** The pages of a list that is not complete yet. */
  private pages: Map<string, Alarm> | undefined;
  private dropped = 0;

  /** Takes a page of the whole list; the last one replaces what was known. */
  takePage(alarms: readonly unknown[], isLast: boolean): void {
    this.pages ??= new Map();
    if (this.pages.size === 0) this.dropped = 0;
    for (const json of alarms) this.put(this.pages, parseAlarm(json));
    if (!isLast) return;
    this.entries = this.pages;
    this.pages = undefined;
  }

  /** Takes one alarm that has changed, or that is gone because its rule is. */
  takeChange(json: unknown): void {
    const into = this.pages ?? this.entries;
    const alarm = parseAlarm(json);
    if (alarm && isFields(json) && json.removed === true) into.delete(alarm.key);
    else this.put(into, alarm);
  }

  /** Forgets pages whose rest will not come. */
  forgetPages(): void {
    this.pages = undefined;
  }

  /** Shows what has changed. Returns the alarms that have been raised since the last time and need attention. */
  show(): Alarm[] {
    const before = alarmBook.peek();
    const next = new Map(this.entries);
    alarmBook.value = next;
    leftOut.value = this.dropped;
    return [...next.values()].filter((alarm) => {
      const known = before.get(alarm.key);
      return alarm !== known && needsAttention(alarm) && alarm.raised !== known?.raised;
    });
  }

  private put(into: Map<string, Alarm>, alarm: Alarm | undefined): void {
    if (!alarm) return;
    const known = into.get(alarm.key);
    if (known && known.revision > alarm.revision) return;
    if (known || into.size < MAX_ALARMS) into.set(alarm.key, alarm);
    else this.dropped++;
  }
}
