import { signal } from '@preact/signals';

/** Which times the page shows: those of this browser, or UTC. */

export type Zone = 'local' | 'utc';

const STORED = 'oasis.zone';

export const zone = signal<Zone>(read());

/** Keeps the choice in this browser. */
export function chooseZone(wanted: Zone): void {
  zone.value = wanted;
  try {
    localStorage.setItem(STORED, wanted);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

function read(): Zone {
  try {
    return localStorage.getItem(STORED) === 'utc' ? 'utc' : 'local';
  } catch {
    return 'local';
  }
}

/** `UTC`, or the name of the time zone of this browser, such as `Europe/Berlin`. */
export function zoneName(): string {
  return zone.value === 'utc' ? 'UTC' : localZone();
}

export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Milliseconds to add to a time so that the parts of its UTC date are those that the page shows. */
export function zoneOffset(ms: number): number {
  return zone.value === 'utc' ? 0 : -new Date(ms).getTimezoneOffset() * 60_000;
}

/** A date whose UTC parts are those that the page shows. */
export function shownDate(ms: number): Date {
  return new Date(ms + zoneOffset(ms));
}

/** Whether two times have the same date on the page. */
export function isSameDay(one: number, other: number): boolean {
  return dayOf(one) === dayOf(other);
}

/** Days since 1970; NaN for times without a date. */
function dayOf(ms: number): number {
  return Math.floor((ms + zoneOffset(ms)) / 86_400_000);
}
