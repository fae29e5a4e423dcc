import { expect, it } from 'vitest';
import { keyOf } from '../stream/view.ts';
import { parseDacLedger } from './dac_ledger.ts';

const TARGET = { node: 'plant-7', instance: 'loop' };

function accountOf(ledger: object) {
  return parseDacLedger({ instances: [{ ...TARGET, ledger }] }).get(keyOf(TARGET));
}

it('has a cause for each sample that was taken and is not in the DAC', () => {
  const account = accountOf({
    received: 100,
    last_sequence: 130,
    missing: 20,
    stored_before: 10,
    node: { taken: 135 },
    gaps: [
      { cause: 'ring_full', count: 4 },
      { cause: 'kept_back', count: 8 },
      { cause: 'ring_full', count: 2 },
      { cause: 'a new one', count: 1 },
    ],
  });
  expect(account).toEqual({
    taken: 135,
    received: 100,
    rest: [
      ['stored_before', 10],
      ['kept_back', 8],
      ['ring_full', 6],
      ['forgotten', 5],
      ['to_come', 5],
      ['a new one', 1],
    ],
  });
});

it('tells what is unexplained when its gap is no longer listed', () => {
  const account = accountOf({
    received: 80,
    last_sequence: 100,
    missing: 20,
    unexplained: 9,
    node: { taken: 100 },
    gaps: [
      { cause: 'unexplained', count: 2 },
      { cause: 'network', count: 10 },
    ],
  });
  expect(account?.rest).toEqual([
    ['network', 10],
    ['unexplained', 9],
    ['forgotten', 1],
  ]);
});

it('reads whatever it is sent', () => {
  for (const answer of [null, 7, [], { instances: {} }, { instances: [null, { ...TARGET, ledger: 1 }] }])
    expect(parseDacLedger(answer).size).toBe(0);
  expect(accountOf({ received: 'many', gaps: [{}, 3], node: null })).toEqual({
    taken: 0,
    received: 0,
    rest: [],
  });
});
