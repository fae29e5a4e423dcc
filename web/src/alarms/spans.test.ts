import { expect, it } from 'vitest';
import { parseAlarm } from './alarm.ts';
import { parseJournal } from './journal.ts';
import { constantLimits, spansOf } from './spans.ts';

const OF = { rule: 'Hot', node: 'plant', instance: 'pump', severity: 'high', quality: 'good' };

/** Entries in the order of time, as the DAC lists them: newest first. Times are milliseconds. */
function journal(
  ...entries: { readonly time: number; readonly kind: string; readonly [name: string]: unknown }[]
) {
  const json = entries.map((entry, id) => ({ id, ...OF, ...entry, time: entry.time * 1e6 })).reverse();
  return parseJournal({ entries: json, next: null }).entries;
}

function alarm(change: object) {
  const parsed = parseAlarm({ ...OF, state: 'active', acknowledged: false, ...change });
  return parsed ? [parsed] : [];
}

it('is active from raised to cleared, and goes on until the end', () => {
  const entries = journal(
    { time: 10, kind: 'raised', state: 'active' },
    { time: 12, kind: 'acknowledged', state: 'active' },
    { time: 20, kind: 'cleared', state: 'latched' },
    { time: 30, kind: 'raised', state: 'active' },
  );
  expect(spansOf(entries, [], 100).map(({ from, to, isActive }) => [from, to, isActive])).toEqual([
    [10, 20, true],
    [30, 100, true],
  ]);
});

it('keeps its state while nobody knows, and says so', () => {
  const entries = journal(
    { time: 5, kind: 'unknown', state: 'normal', quality: 'unknown' },
    { time: 8, kind: 'known', state: 'normal' },
    { time: 10, kind: 'raised', state: 'active' },
    { time: 12, kind: 'unknown', state: 'active', quality: 'unknown' },
    { time: 15, kind: 'known', state: 'active' },
    { time: 20, kind: 'cleared', state: 'normal' },
  );
  expect(
    spansOf(entries, [], 100).map(({ from, to, isActive, isKnown }) => [from, to, isActive, isKnown]),
  ).toEqual([
    [5, 8, false, false],
    [10, 12, true, true],
    [12, 15, true, false],
    [15, 20, true, true],
  ]);
});

it.each(['rule_removed', 'moved'] as const)('ends when the DAC says no more of it: %s', (kind) => {
  const entries = journal({ time: 10, kind: 'raised', state: 'active' }, { time: 20, kind });
  expect(spansOf(entries, [], 100).map(({ to }) => to)).toEqual([20]);
});

it('goes on at the DAC that has taken it over', () => {
  const entries = journal(
    { time: 10, kind: 'raised', state: 'active' },
    { time: 20, kind: 'taken_over', state: 'active' },
    { time: 21, kind: 'moved', state: 'normal' },
    { time: 30, kind: 'cleared', state: 'normal' },
    { time: 40, kind: 'raised', state: 'active' },
    { time: 50, kind: 'moved', state: 'normal' },
  );
  expect(spansOf(entries, [], 100).map(({ from, to }) => [from, to])).toEqual([
    [10, 30],
    [40, 50],
  ]);
});

it('begins before the entries that were read, or after them', () => {
  const early = alarm({ raised: 3e6 });
  expect(spansOf([], early, 100)).toMatchObject([{ from: 3, to: 100, severity: 'high' }]);
  const entries = journal(
    { time: 10, kind: 'raised', state: 'active' },
    { time: 20, kind: 'cleared', state: 'normal' },
  );
  expect(spansOf(entries, alarm({ raised: 50e6 }), 100).map(({ from }) => from)).toEqual([10, 50]);
});

it('is set apart while somebody has put it aside', () => {
  expect(spansOf([], alarm({ raised: 3e6, suppressed: true }), 100)).toMatchObject([{ isAside: true }]);
});

it('has a limit to draw only if it was always raised at the same one', () => {
  const alarms = alarm({ limit: 90, unit: 'Cel', state: 'normal' });
  const same = journal(
    { time: 10, kind: 'raised', limit: 95 },
    { time: 12, kind: 'acknowledged' },
    { time: 20, kind: 'cleared', limit: 90 },
  );
  expect(constantLimits(same, alarms)).toEqual([{ rule: 'Hot', value: 95, unit: 'Cel', severity: 'high' }]);
  const moving = journal({ time: 10, kind: 'raised', limit: 95 }, { time: 20, kind: 'raised', limit: 96 });
  expect(constantLimits(moving, alarms)).toEqual([]);
  expect(constantLimits([], alarms)).toEqual([]);
  expect(constantLimits([], alarm({ limit: 95 }))).toMatchObject([{ value: 95 }]);
});

it.each([
  ['Plant::Pump.temperature high', 'temperature'],
  ['Pump.temperature low warning', 'temperature'],
  ['Plant::Pump.pose.x above range', 'pose.x'],
  ['Hot', undefined],
  ['Hot::Pump high', undefined],
])('knows the metric of a limit by the name of a rule of PDL: %s', (rule, metric) => {
  expect(constantLimits([], alarm({ rule, limit: 95 }))).toMatchObject([{ rule, metric }]);
});
