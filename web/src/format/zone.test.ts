import { afterEach, describe, expect, it } from 'vitest';
import { timeSplits, timeTicks } from '../charts/axes.ts';
import { formatClock, formatDay, formatInstant } from './time.ts';
import { isSameDay, zone, zoneName } from './zone.ts';

const before = process.env.TZ;

afterEach(() => {
  process.env.TZ = before;
  zone.value = 'local';
});

describe('times', () => {
  const time = Date.UTC(2026, 6, 1, 22, 30, 5);

  it('are local, or UTC', () => {
    process.env.TZ = 'Asia/Kolkata';
    expect(formatDay(time)).toBe('2026-07-02 04:00');
    zone.value = 'utc';
    expect(formatDay(time)).toBe('2026-07-01 22:30');
    expect(formatClock(time)).toBe('22:30:05');
    expect(zoneName()).toBe('UTC');
  });

  it('have the day of the zone', () => {
    process.env.TZ = 'Asia/Kolkata';
    const later = time + 3_600_000;
    expect(isSameDay(time, later)).toBe(true);
    zone.value = 'utc';
    expect(isSameDay(time, time + 2 * 3_600_000)).toBe(false);
    expect(formatInstant(time, later + 3_600_000)).toBe('2026-07-01 22:30:05');
  });

  it('are on whole hours of the zone on axes', () => {
    process.env.TZ = 'Asia/Kolkata';
    const hour = 3_600_000;
    expect(timeTicks(timeSplits(time, time + 2 * hour, hour))).toEqual(['05:00', '06:00']);
    zone.value = 'utc';
    expect(timeTicks(timeSplits(time, time + 2 * hour, hour))).toEqual(['23:00', '07-02']);
  });

  it('follow the changes of summer time', () => {
    process.env.TZ = 'Europe/Berlin';
    expect(formatClock(Date.UTC(2026, 2, 29, 0, 59, 59))).toBe('01:59:59');
    expect(formatClock(Date.UTC(2026, 2, 29, 1, 0, 0))).toBe('03:00:00');
  });
});
