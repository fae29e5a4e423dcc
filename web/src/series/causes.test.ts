import { LOSS_CAUSES } from '@oasis/wire';
import { expect, it } from 'vitest';
import { History } from '../stream/history.ts';
import { SequenceLedger } from '../stream/ledger.ts';
import { strings } from '../strings/strings.ts';
import { severityOf, worseOf } from './causes.ts';

const NEWER = '<b>eaten by mice</b>';

it('describes each cause of loss with the text that all parts of OASIS share', () => {
  for (const { cause, meaning } of LOSS_CAUSES) expect(strings.gaps.describe(cause, 1)).toBe(meaning);
  expect(strings.gaps.describe('archive_behind', 1)).toBe(strings.gaps.describe('archive_lag', 1));
});

it('describes an interruption, which has no missing samples, in its own words', () => {
  expect(strings.gaps.describe('epoch_changed', 0)).toBe('the DAC restarted');
  expect(strings.gaps.describe('silent', 0)).toBe('no samples were taken; none are missing');
});

it('shows the cause of a newer DAC as it is, and counts it as a loss', () => {
  for (const cause of [NEWER, 'constructor', '__proto__', '']) {
    expect(strings.gaps.describe(cause, 3)).toBe(cause);
    expect(severityOf(cause, 3)).toBe('loss');
    const ledger = new SequenceLedger();
    ledger.add(1, 1, 0, 0);
    ledger.announceGap(cause);
    ledger.add(5, 1, 0, 0);
    expect(ledger.view().causesHere).toEqual(new Map([[cause, 3]]));
    expect(ledger.view()).toMatchObject({ missing: 3, unexplained: 0 });
  }
  expect(strings.ledger.causeChoice(NEWER)).toBe(NEWER);
  expect(strings.ledger.causeChoice('network')).toBe(
    'network: they were sent as datagrams, or by a device to its gateway, and did not arrive',
  );
});

it('counts samples that nobody lost apart, and marks a second with its most serious gap', () => {
  const history = new History();
  history.addGap(1000, 4, 'kept_back');
  history.addGap(1100, 2, 'not_recorded');
  expect(history.view(1000).marks.at(-1)).toBe('expected');
  expect(history.view(1000).missing.at(-1)).toBe(0);
  history.addGap(1200, 1, 'damaged');
  history.addGap(1300, 0, 'reconnected');
  expect(history.view(1000).marks.at(-1)).toBe('loss');
  expect(history.view(1000).missing.at(-1)).toBe(1);
  expect(worseOf('loss', 'unexplained')).toBe('unexplained');
});

it('uses the cause that the DAC gave for the next batch only', () => {
  const ledger = new SequenceLedger();
  ledger.add(1, 1, 0, 0);
  ledger.announceGap('archive_retention');
  ledger.add(4, 1, 0, 0);
  ledger.add(9, 1, 0, 0);
  expect([...ledger.view().causesHere]).toEqual([
    ['archive_retention', 2],
    ['unexplained', 4],
  ]);
});
