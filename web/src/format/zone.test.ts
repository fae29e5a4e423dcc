import { afterEach, describe, expect, it } from 'vitest';
import { timeSplits, timeTicks } from '../charts/axes.ts';
import { formatClock, formatDay, formatInstant, formatMoment } from './time.ts';
import { isSameDay, timesShownAs, zone, zoneName } from './zone.ts';

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

  it('say which of two times they are in the hour that comes twice', () => {
    process.env.TZ = 'Europe/Berlin';
    const [first, second] = [Date.UTC(2026, 9, 25, 0, 30), Date.UTC(2026, 9, 25, 1, 30)];
    expect([formatClock(first), formatClock(second)]).toEqual(['02:30:00 +02', '02:30:00 +01']);
    expect(formatDay(second)).toBe('2026-10-25 02:30 +01');
    expect(formatMoment(second, 1000, 0)).toBe('2026-10-25 02:30:00.000 +01');
    expect(formatClock(Date.UTC(2026, 9, 25, 2, 0))).toBe('03:00:00');
    expect(formatClock(first - 1_800_001)).toBe('01:59:59');
    zone.value = 'utc';
    expect(formatClock(first)).toBe('00:30:00');
    zone.value = 'local';
    process.env.TZ = 'Australia/Lord_Howe';
    expect(formatClock(Date.UTC(2026, 3, 4, 15, 15))).toBe('01:45:00 +10:30');
  });

  it('are on whole hours of axes on the days on which the clock is changed', () => {
    process.env.TZ = 'Europe/Berlin';
    const hour = 3_600_000;
    const autumn = Date.UTC(2026, 9, 24, 22);
    const labels = (from: number, hours: number, step: number) =>
      timeTicks(timeSplits(from, from + hours * hour, step * hour));
    expect(labels(autumn, 5, 1)).toEqual(['10-25', '01:00', '02:00 +02', '02:00 +01', '03:00', '04:00']);
    expect(labels(autumn, 25, 6)).toEqual(['10-25', '06:00', '12:00', '18:00', '10-26']);
    // From the first to the second pass of the hour that comes twice.
    const [from, to] = [Date.UTC(2026, 9, 25, 0, 45), Date.UTC(2026, 9, 25, 1, 40)];
    expect(timeTicks(timeSplits(from, to, hour / 6))).toEqual([
      '02:50 +02',
      ...['02:00 +01', '02:10 +01', '02:20 +01', '02:30 +01', '02:40 +01'],
    ]);
    const spring = Date.UTC(2026, 2, 28, 23);
    expect(labels(spring, 4, 1)).toEqual(['03-29', '01:00', '03:00', '04:00', '05:00']);
    expect(labels(spring, 23, 6)).toEqual(['03-29', '06:00', '12:00', '18:00', '03-30']);
  });

  it('are found by what a field shows: twice, once or never', () => {
    process.env.TZ = 'Europe/Berlin';
    const shown = (month: number, day: number) => timesShownAs(Date.UTC(2026, month, day, 2, 30));
    expect(shown(9, 25)).toEqual([Date.UTC(2026, 9, 25, 0, 30), Date.UTC(2026, 9, 25, 1, 30)]);
    expect(shown(9, 26)).toEqual([Date.UTC(2026, 9, 26, 1, 30)]);
    expect(shown(2, 29)).toEqual([]);
    expect(timesShownAs(Number.NaN)).toEqual([]);
  });
});
