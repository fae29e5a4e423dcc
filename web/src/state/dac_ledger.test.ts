import { expect, it } from 'vitest';
import { keyOf } from '../stream/view.ts';
import { parseDacLedger, questionsFor } from './dac_ledger.ts';

const TARGET = { node: 'plant-7', instance: 'loop' };

function accountOf(ledger: object) {
  return parseDacLedger({ instances: [{ ...TARGET, ledger }] }).get(keyOf(TARGET));
}

it('has a cause for each sample that was taken and is not in the DAC', () => {
  const account = accountOf({
    received: 100,
    last_sequence: 130,
    missing: 20,
    causes: { ring_full: 6, kept_back: 13, 'a new one': 1 },
    stored_before: 10,
    node: { taken: 135 },
    gaps: [
      { from_sequence: 1, to_sequence: 4, cause: 'ring_full', count: 4, time: 7e6 },
      { from_sequence: 9, to_sequence: 10, cause: 'ring_full', count: 2, time: 8e6 },
    ],
  });
  expect(account).toEqual({
    taken: 135,
    received: 100,
    rest: [
      ['kept_back', 13],
      ['stored_before', 10],
      ['ring_full', 6],
      ['to_come', 5],
      ['a new one', 1],
    ],
    holes: [
      { from: 9, to: 10, cause: 'ring_full', count: 2, time: 8 },
      { from: 1, to: 4, cause: 'ring_full', count: 4, time: 7 },
    ],
  });
});

it('asks for what is shown: an instance, a node, or all', () => {
  const of = (node: string, instance: string) => ({ node, instance });
  expect(questionsFor([of('a', 'x'), of('b', 'x'), of('b', 'y&z')], 'network')).toEqual([
    'node=a&instance=x&cause=network',
    'node=b&cause=network',
  ]);
  const many = Array.from({ length: 9 }, (_, node) => of(String(node), 'x'));
  expect(questionsFor(many, '')).toEqual(['']);
});

it('reads whatever it is sent', () => {
  for (const answer of [null, 7, [], { instances: {} }, { instances: [null, { ...TARGET, ledger: 1 }] }])
    expect(parseDacLedger(answer).size).toBe(0);
  expect(accountOf({ received: 'many', gaps: [{}, 3], node: null })).toEqual({
    taken: 0,
    received: 0,
    rest: [],
    holes: [{ from: 0, to: 0, count: 0, cause: 'undefined', time: 0 }],
  });
});
