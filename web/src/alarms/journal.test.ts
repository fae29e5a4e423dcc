import { expect, it } from 'vitest';
import { parseJournal, parseStatistics } from './journal.ts';

it('reads a page of the journal, and where it goes on', () => {
  const { entries, next } = parseJournal({
    entries: [
      {
        id: 9,
        time: 5e6,
        dac_time: 6e6,
        rule: 'Hot',
        node: 'n',
        instance: 'i',
        kind: 'raised',
        late: true,
        principal: 'ada',
      },
      { id: 8, rule: 'Hot', kind: 'raised' },
      'nonsense',
    ],
    next: 9,
  });
  expect(entries).toHaveLength(1);
  expect(entries[0]).toMatchObject({
    id: '9',
    time: 5,
    dacTime: 6,
    isLate: true,
    principal: 'ada',
    state: undefined,
  });
  expect(next).toBe('9');
  expect(parseJournal({ entries: [], next: null }).next).toBeUndefined();
  expect(parseJournal(undefined)).toEqual({ entries: [], next: undefined });
});

it('reads figures, and none of a DAC that has none', () => {
  const figures = parseStatistics({
    standing: { high: 2 },
    raised: { ten_minutes: 1, hour: 5, day: 9 },
    most_frequent: [{ rule: 'Hot', node: 'n', instance: 'i', count: 60 }],
    longest_standing: [{ rule: 'Cold', node: 'n', instance: 'i', since: 7e6 }],
  });
  expect(figures.standing).toEqual({ low: 0, medium: 0, high: 2, critical: 0 });
  expect(figures.raised).toEqual({ tenMinutes: 1, hour: 5, day: 9 });
  expect(figures.frequent).toMatchObject([{ rule: 'Hot', count: 60, since: undefined }]);
  expect(figures.longest).toMatchObject([{ rule: 'Cold', count: undefined, since: 7 }]);
  expect(parseStatistics(null).raised).toEqual({ tenMinutes: 0, hour: 0, day: 0 });
});
