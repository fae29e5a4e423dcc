import { computed, signal } from '@preact/signals';
import type { AlarmView } from '../stream/alarms.ts';
import { strings } from '../strings/strings.ts';
import { visible } from '../text/visible.ts';

/**
 * Alarms and warnings of watched instances that this tab has found itself, newest first, and which of them are acknowledged.
 * They count only while the DAC has no alarms.
 */

const MAX_ALARMS = 300;
const BEEP_MS = 180;
const BEEP_HERTZ = 880;

export interface Alarm extends AlarmView {
  readonly isSeen: boolean;
}

export const alarms = signal<readonly Alarm[]>([]);
/** Alarms that are not acknowledged. */
export const unseen = computed(() => alarms.value.filter(({ isSeen }) => !isSeen).length);
export const isLoud = signal(false);

/** Applies alarms from the worker: new, worse and ended ones. */
export function raise(changed: readonly AlarmView[]): void {
  if (changed.length === 0) return;
  const byId = new Map(alarms.peek().map((alarm) => [alarm.id, alarm]));
  let isNew = false;
  for (const alarm of changed) {
    const before = byId.get(alarm.id);
    const isWorse = before !== undefined && before.severity !== alarm.severity;
    isNew ||= before === undefined || isWorse;
    byId.set(alarm.id, { ...alarm, isSeen: (before?.isSeen ?? false) && !isWorse });
  }
  alarms.value = [...byId.values()].sort((a, b) => b.since - a.since).slice(0, MAX_ALARMS);
  const [{ label, because }] = changed;
  if (isNew) alarmsRaised(strings.alarms.sentence(label, because));
}

export function acknowledge(id: number): void {
  alarms.value = alarms.peek().map((alarm) => (alarm.id === id ? { ...alarm, isSeen: true } : alarm));
}

export function acknowledgeAll(): void {
  alarms.value = alarms.peek().map((alarm) => ({ ...alarm, isSeen: true }));
}

/** Removes ended alarms that are acknowledged. */
export function clearSeen(): void {
  alarms.value = alarms.peek().filter((alarm) => !alarm.isSeen || alarm.until === undefined);
}

/** Turns sound and notifications on or off. Browsers require a click for this. */
export async function toggleLoud(): Promise<void> {
  isLoud.value = !isLoud.peek();
  if (isLoud.peek() && 'Notification' in window && Notification.permission === 'default')
    await Notification.requestPermission();
  if (isLoud.peek()) beep();
}

/** A tone, and a notification if the page is hidden, if somebody wants them. */
export function alarmsRaised(sentence: string): void {
  if (!isLoud.peek()) return;
  beep();
  if (!('Notification' in window) || Notification.permission !== 'granted' || !document.hidden) return;
  new Notification(strings.title, { body: visible(sentence), tag: 'oasis-alarm' });
}

let audio: AudioContext | undefined;

function beep(): void {
  audio ??= new AudioContext();
  const tone = audio.createOscillator();
  const volume = audio.createGain();
  tone.frequency.value = BEEP_HERTZ;
  volume.gain.value = 0.08;
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + BEEP_MS / 1000);
}
