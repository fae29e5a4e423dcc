import { beforeEach, expect, it } from 'vitest';
import { alarmBook, attention, attentionCount, leftOut, worstAttention } from './book.ts';
import { AlarmBook, MAX_ALARMS } from './collector.ts';

const OF = {
  rule: 'Hot',
  node: 'plant',
  instance: 'pump',
  state: 'active',
  acknowledged: false,
  severity: 'high',
};

let book: AlarmBook;

beforeEach(() => {
  book = new AlarmBook();
  book.takePage([], true);
  book.show();
});

const rules = () => [...alarmBook.value.values()].map(({ rule }) => rule);

it('replaces what it knew by a list once all its pages are there', () => {
  book.takePage([{ ...OF, rule: 'Old', revision: 1 }], true);
  book.show();
  book.takePage([{ ...OF, rule: 'A', revision: 2 }], false);
  book.show();
  expect(rules()).toEqual(['Old']);
  book.takeChange({ ...OF, rule: 'C', revision: 9 });
  book.takePage([{ ...OF, rule: 'B', revision: 3 }], true);
  book.show();
  expect(rules()).toEqual(['A', 'C', 'B']);
});

it('reports what was raised, and nothing twice', () => {
  book.takePage([{ ...OF, raised: 1e6, revision: 1 }], true);
  expect(book.show().map(({ rule }) => rule)).toEqual(['Hot']);
  book.takeChange({ ...OF, raised: 1e6, revision: 2, value: 99 });
  expect(book.show()).toEqual([]);
  book.takeChange({ ...OF, raised: 5e6, revision: 3 });
  expect(book.show()).toHaveLength(1);
  book.takeChange({ ...OF, raised: 6e6, revision: 4, suppressed: true });
  expect(book.show()).toEqual([]);
});

it('counts what needs attention by severity', () => {
  book.takePage(
    [
      { ...OF, rule: 'A' },
      { ...OF, rule: 'B', severity: 'critical' },
      { ...OF, rule: 'C', severity: 'critical', acknowledged: true },
      { ...OF, rule: 'D', severity: 'low', shelved_once: true },
    ],
    true,
  );
  book.show();
  expect(attention.value).toEqual({ low: 0, medium: 0, high: 1, critical: 1 });
  expect([attentionCount.value, worstAttention.value]).toEqual([2, 'critical']);
});

it('forgets an alarm whose rule is gone, and ignores what is older than what it knows', () => {
  book.takePage([{ ...OF, revision: 5 }], true);
  book.takeChange({ ...OF, acknowledged: true, revision: 4 });
  book.show();
  expect([...alarmBook.value.values()][0].isAcknowledged).toBe(false);
  book.takeChange({ ...OF, removed: true, revision: 6 });
  book.show();
  expect(rules()).toEqual([]);
});

it('keeps no more alarms than it has room for', () => {
  const many = Array.from({ length: MAX_ALARMS + 3 }, (_, index) => ({ ...OF, instance: `i${index}` }));
  book.takePage(many, true);
  book.show();
  expect([alarmBook.value.size, leftOut.value]).toEqual([MAX_ALARMS, 3]);
});
