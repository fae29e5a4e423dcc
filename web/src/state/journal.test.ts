import { expect, it } from 'vitest';
import { type JournalEntry, listed } from './journal.ts';

it('lists what somebody has commanded, and on demand what followed from rates on demand', () => {
  const entry = (who: string): JournalEntry => ({ time: 0, who, what: '', outcome: 'done', isDone: true });
  const many = Array.from({ length: 200 }, () => entry('demand'));
  expect(listed([...many, entry('anna'), ...many], false).map(({ who }) => who)).toEqual(['anna']);
  expect(listed([...many, entry('anna')], true)).toHaveLength(50);
});
