import { isSameDay, shownDate, zoneMark } from './zone.ts';

/** Formats an age in milliseconds with as few letters as possible. */
export function formatAge(ms: number): string {
  // Clock offsets are estimates: a sample from slightly in the future counts as new.
  if (ms < 0 && ms > -500) return '0.0 s';
  if (ms < 0) return `\u2212${formatAge(-ms)}`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${(Math.floor(seconds * 10) / 10).toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${two(Math.floor(seconds % 60))} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${two(minutes % 60)} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Formats an age in its largest unit only. */
export function formatRoughAge(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'less than a minute';
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

/** A clock offset or a round trip in milliseconds. */
export function formatOffset(ms: number): string {
  const size = Math.abs(ms);
  const sign = ms < 0 ? '\u2212' : '+';
  if (size < 10) return `${sign}${size.toFixed(2)} ms`;
  if (size < 1000) return `${sign}${size.toFixed(0)} ms`;
  return `${sign}${formatAge(size)}`;
}

/** An hour that comes twice has its offset from UTC after it, here and below. */
export function formatClock(ms: number): string {
  return clockOf(ms) + zoneMark(ms);
}

function clockOf(ms: number): string {
  const date = shownDate(ms);
  return `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
}

/** Day and minute. */
export function formatDay(ms: number): string {
  return dayOf(ms) + zoneMark(ms);
}

function dayOf(ms: number): string {
  const date = shownDate(ms);
  const day = `${date.getUTCFullYear()}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
  return `${day} ${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
}

/** A moment to the second; with its day if that is not today. */
export function formatInstant(ms: number, now = Date.now()): string {
  return instantOf(ms, now) + zoneMark(ms);
}

function instantOf(ms: number, now: number): string {
  return isSameDay(ms, now) ? clockOf(ms) : `${dayOf(ms)}:${two(new Date(ms).getSeconds())}`;
}

/** Since when something counts: the minute of today, or a day. */
export function formatSince(ms: number, now = Date.now()): string {
  return isSameDay(ms, now) ? clockOf(ms).slice(0, 5) : dayOf(ms).slice(0, 10);
}

/** Formats a moment as finely as the shown length needs, with its day if that is not today. */
export function formatMoment(ms: number, span: number, now = Date.now()): string {
  if (!isSameDay(ms, now) && span >= 600_000) return formatDay(ms);
  const fraction =
    span < 30_000 ? `.${String(Math.floor(((ms % 1000) + 1000) % 1000)).padStart(3, '0')}` : '';
  return instantOf(ms, now) + fraction + zoneMark(ms);
}

/** Formats the moment under the pointer as finely as the shown length can tell, with its day if that is not today. */
export function formatCursor(ms: number, span: number, now = Date.now()): string {
  const isFine = span < 600_000;
  const fraction = isFine ? `.${String(Math.floor(((ms % 1000) + 1000) % 1000)).padStart(3, '0')}` : '';
  return instantOf(ms, now) + fraction + zoneMark(ms);
}

/** Formats a duration, in one unit if it is a whole number of it. */
export function formatSpan(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const whole = Math.round(ms);
  for (const [unit, size, most] of [
    ['d', 86_400_000, Number.POSITIVE_INFINITY],
    ['h', 3_600_000, 48],
    ['min', 60_000, 120],
  ] as const) {
    if (whole >= size && whole % size === 0 && whole / size < most) return `${whole / size} ${unit}`;
  }
  return ms < 60_000 ? `${Number((ms / 1000).toFixed(1))} s` : formatAge(ms);
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
