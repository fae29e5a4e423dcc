import { computed, signal } from '@preact/signals';
import { type Alarm, needsAttention, SEVERITIES, type Severity } from './alarm.ts';

/** The alarms of the DAC, as this page knows them. */

/** Where alarms come from: from the DAC, or from the limits that this tab compares itself. */
export type AlarmSource =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'server' }
  /** `reason`: why the DAC has none. */
  | { readonly kind: 'tab'; readonly reason: string };

export const alarmSource = signal<AlarmSource>({ kind: 'waiting' });
export const alarmBook = signal<ReadonlyMap<string, Alarm>>(new Map());
/** Alarms that {@link alarmBook} has no room for. */
export const leftOut = signal(0);
/** Why the alarms may be old; empty while they are those of now. */
export const feedProblem = signal('');

/** Alarms that need attention, by severity. */
export const attention = computed(() => {
  const counts: Record<Severity, number> = { low: 0, medium: 0, high: 0, critical: 0 };
  for (const alarm of alarmBook.value.values()) if (needsAttention(alarm)) counts[alarm.severity]++;
  return counts;
});

export const attentionCount = computed(() =>
  SEVERITIES.reduce((sum, severity) => sum + attention.value[severity], 0),
);

/** The worst severity that needs attention. */
export const worstAttention = computed(() =>
  [...SEVERITIES].reverse().find((severity) => attention.value[severity] > 0),
);
