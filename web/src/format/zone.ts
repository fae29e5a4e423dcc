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

const DAY_MS = 86_400_000;

/**
 * Returns the times that the page shows as `shown`, whose UTC parts they are: two in the hour that comes twice when summer
 * time ends, none in the hour that is left out when it begins.
 */
export function timesShownAs(shown: number): number[] {
  const offsets = new Set([zoneOffset(shown - DAY_MS), zoneOffset(shown + DAY_MS)]);
  const times = [...offsets].map((offset) => shown - offset);
  return times.filter((time) => time + zoneOffset(time) === shown).sort((one, other) => one - other);
}

/** Returns the offset from UTC, such as ` +02`, of a time whose hour comes twice; else an empty text. */
export function zoneMark(ms: number): string {
  return timesShownAs(ms + zoneOffset(ms)).length > 1 ? ` ${formatOffsetOf(ms)}` : '';
}

/** Returns the offset from UTC, such as `+02` or `+05:30`. */
export function formatOffsetOf(ms: number): string {
  const minutes = Math.round(zoneOffset(ms) / 60_000);
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const digits = [hours, ...(rest === 0 ? [] : [rest])].map((part) => String(part).padStart(2, '0'));
  return (minutes < 0 ? '\u2212' : '+') + digits.join(':');
}

/** Whether two times have the same date on the page. */
export function isSameDay(one: number, other: number): boolean {
  return dayOf(one) === dayOf(other);
}

/** Days since 1970; NaN for times without a date. */
function dayOf(ms: number): number {
  return Math.floor((ms + zoneOffset(ms)) / DAY_MS);
}
