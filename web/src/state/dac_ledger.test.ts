import { afterEach, expect, it, vi } from 'vitest';
import '../panels/descriptions.ts';
import { SequenceLedger } from '../stream/ledger.ts';
import { keyOf } from '../wire/target.ts';
import { dacAccounts, followDacLedger, ledgerCauses, parseDacLedger, questionsFor } from './dac_ledger.ts';
import { panels } from './panels.ts';
import { cellsOf } from './store.ts';

const TARGET = { node: 'plant-7', instance: 'loop' };

afterEach(() => vi.unstubAllGlobals());

function accountOf(ledger: object) {
  return parseDacLedger({ instances: [{ ...TARGET, ledger }] }, new Map()).get(keyOf(TARGET));
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
    here: 0,
    rest: [
      ['kept_back', 13],
      ['stored_before', 10],
      ['ring_full', 6],
      ['to_come', 5],
      ['a new one', 1],
    ],
    gaps: [
      { from: 9, to: 10, cause: 'ring_full', count: 2, time: 8 },
      { from: 1, to: 4, cause: 'ring_full', count: 4, time: 7 },
    ],
  });
});

it('offers the causes of a ledger to filter by, and those that a newer DAC has sent', () => {
  const known = [
    'ring_full',
    'spool_full',
    'invalid_row',
    'not_taken',
    'kept_back',
    'node_restart',
    'network',
    'before_epoch',
    'other_dac',
    'copy_lag',
    'copy_refused',
    'not_recorded',
    'unexplained',
  ];
  expect(ledgerCauses.value).toEqual(known);
  const ledger = { causes: { dropped_ring: 1, ring_full: 2, 'a new one': 1 }, stored_before: 3 };
  dacAccounts.value = parseDacLedger({ instances: [{ ...TARGET, ledger }] }, new Map());
  expect(ledgerCauses.value).toEqual([...known, 'a new one']);
  // A former word counts as the present one.
  expect(dacAccounts.value.get(keyOf(TARGET))?.rest).toContainEqual(['ring_full', 3]);
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
    expect(parseDacLedger(answer, new Map()).size).toBe(0);
  expect(accountOf({ received: 'many', gaps: [{}, 3], node: null })).toEqual({
    taken: 0,
    received: 0,
    here: 0,
    rest: [],
    gaps: [{ from: 0, to: 0, count: 0, cause: 'undefined', time: 0 }],
  });
});

it('has what had come here when the DAC was read, and nothing that another life of it sent', async () => {
  const answers: ((answer: Response) => void)[] = [];
  vi.stubGlobal('document', { hidden: false, baseURI: 'http://dac/' });
  vi.stubGlobal('fetch', () => new Promise<Response>((resolve) => answers.push(resolve)));
  const answer = (epoch: string, received: number) =>
    Response.json({ epoch, instances: [{ ...TARGET, topic: 3, ledger: { received } }] });
  const page = new SequenceLedger();
  const receive = (first: number, count: number) => {
    page.add(first, count, 0, 0);
    cellsOf(TARGET).loss.value = page.view();
  };
  const account = () => dacAccounts.value.get(keyOf(TARGET));
  const read = async (answer: Response, meanwhile = () => {}) => {
    const end = followDacLedger();
    meanwhile();
    answers.shift()?.(answer);
    // All that hangs on the answer has happened by then.
    await new Promise((resolve) => setImmediate(resolve));
    end();
  };
  panels.value = [{ id: 'p1', kind: 'instance', target: TARGET }];
  page.startLog('e1:3');
  receive(1, 5);
  await read(answer('e1', 7), () => receive(6, 4));
  expect(account()).toMatchObject({ taken: 7, received: 7, here: 5 });
  await read(answer('e1', 9));
  expect(account()).toMatchObject({ received: 9, here: 9 });
  // The DAC was started again, and the page does not know yet.
  await read(answer('e2', 2));
  expect(account()).toMatchObject({ received: 2, here: 0 });
  page.epochChanged(0);
  page.startLog('e2:3');
  receive(8, 4);
  await read(answer('e2', 4));
  expect(page.view().received).toBe(11);
  expect(account()).toMatchObject({ received: 4, here: 4 });
  await read(new Response('', { status: 503 }));
  expect(account()).toMatchObject({ received: 4, here: 4 });
});
