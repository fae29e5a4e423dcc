import { expect, it } from 'vitest';
import { compareAlarms, isInhibited, isStanding, needsAttention, parseAlarm } from './alarm.ts';
import { countsOf, selectAlarms } from './select.ts';

const HOT = {
  rule: 'Hot',
  node: 'plant-7',
  instance: 'pump 1',
  state: 'active',
  acknowledged: false,
  severity: 'high',
  quality: 'good',
  value: 97.3,
  limit: 95,
  unit: 'Cel',
  raised: Number('1700000000123456789'),
  revision: 3,
};

function alarm(change: object = {}) {
  const parsed = parseAlarm({ ...HOT, ...change });
  if (!parsed) throw new Error('no alarm');
  return parsed;
}

it('reads an alarm with times in milliseconds', () => {
  expect(alarm()).toMatchObject({
    rule: 'Hot',
    state: 'active',
    isAcknowledged: false,
    isKnown: true,
    limit: 95,
  });
  expect(alarm().raised).toBeCloseTo(1_700_000_000_123.457, 2);
  expect(alarm().cleared).toBeUndefined();
});

it('reads an alarm of a newer DAC, or of a broken one', () => {
  expect(parseAlarm({ rule: 'Hot' })).toBeUndefined();
  expect(parseAlarm('Hot')).toBeUndefined();
  expect(
    alarm({ state: 'molten', severity: 9, value: 'NaN', message: {}, shelved_until: null }),
  ).toMatchObject({
    state: 'normal',
    severity: 'medium',
    value: undefined,
    message: '',
    shelvedUntil: undefined,
  });
  expect(alarm({ sequence: '18446744073709551615' }).sequence).toBe(2 ** 64);
});

it('needs nobody once it is acknowledged or put aside', () => {
  expect(needsAttention(alarm())).toBe(true);
  expect(needsAttention(alarm({ acknowledged: true }))).toBe(false);
  expect(isStanding(alarm({ acknowledged: true }))).toBe(true);
  for (const aside of [
    { shelved_until: 1e18 },
    { shelved_once: true },
    { suppressed: true },
    { out_of_service: true },
  ]) {
    expect(isInhibited(alarm(aside))).toBe(true);
    expect(needsAttention(alarm(aside))).toBe(false);
  }
});

it('lists what needs somebody first, then the worst, then the newest', () => {
  const list = [
    alarm({ rule: 'seen', acknowledged: true, severity: 'critical' }),
    alarm({ rule: 'old', raised: 1e18 }),
    alarm({ rule: 'new' }),
    alarm({ rule: 'worst', severity: 'critical', raised: 0 }),
  ];
  expect(list.sort(compareAlarms).map(({ rule }) => rule)).toEqual(['worst', 'new', 'old', 'seen']);
});

it('shows what stands, what is put aside, and what words find', () => {
  const list = [
    alarm(),
    alarm({ rule: 'Shelved', shelved_once: true }),
    alarm({ rule: 'Over', state: 'normal', acknowledged: true }),
    alarm({ rule: 'Mild', severity: 'low', message: 'Pump is warm' }),
  ];
  const names = (choice: object) =>
    selectAlarms(list, { view: 'standing', sort: 'attention', least: 0, text: '', ...choice }).map(
      ({ rule }) => rule,
    );
  expect(names({})).toEqual(['Hot', 'Mild']);
  expect(names({ view: 'aside' })).toEqual(['Shelved']);
  expect(names({ least: 1 })).toEqual(['Hot']);
  expect(names({ text: 'PLANT warm' })).toEqual(['Mild']);
  expect(countsOf(list)).toEqual({ standing: 2, aside: 1, all: 4 });
});
