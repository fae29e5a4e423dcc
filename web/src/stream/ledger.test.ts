import { beforeEach, describe, expect, it } from 'vitest';
import { type Gap, SequenceLedger } from './ledger.ts';

const gap = (cause: string, from: number, to: number, count = to - from + 1): Gap => ({
  cause,
  from,
  to,
  count,
});

describe('the ledger of the page', () => {
  let ledger: SequenceLedger;

  beforeEach(() => {
    ledger = new SequenceLedger();
    ledger.add(1, 10, 0, 500);
  });

  const events = () => ledger.view().events.map(({ cause, count, from, to }) => [cause, count, from, to]);

  it('shows each cause of a gap with its count, as the DAC reports them', () => {
    ledger.reportGaps([gap('spool_full', 11, 13), gap('ring_full', 14, 15)]);
    ledger.add(16, 1, 5, 900);
    expect(ledger.view()).toMatchObject({ since: 500, received: 11, missing: 5, unexplained: 0, notHere: 0 });
    expect(events()).toEqual([
      ['ring_full', 2, 14, 15],
      ['spool_full', 3, 11, 13],
    ]);
  });

  it('says how long a gap and the time before a new run were', () => {
    ledger.add(12, 1, 1, 900, 400);
    ledger.setRun('run-1');
    ledger.setRun('run-2');
    ledger.add(1, 1, 0, 2_400, 1_500);
    expect(ledger.view().events).toMatchObject([
      { cause: 'node_restart', duration: 1_500 },
      { cause: 'node_dropped', duration: 400 },
    ]);
  });

  it('tells what a flight recorder kept back from what its node dropped', () => {
    ledger.setRecorder(true);
    ledger.reportGaps([gap('kept_back', 11, 90), gap('ring_full', 91, 99)]);
    ledger.add(100, 1, 89, 0);
    expect(ledger.view()).toMatchObject({ missing: 9, keptBack: 80, notHere: 0 });
  });

  it('counts what the DAC does not report as missing apart, with its own cause', () => {
    ledger.announceGap('log_retention');
    ledger.reportGaps([gap('ring_full', 29, 29)]);
    ledger.add(30, 1, 1, 0);
    ledger.add(35, 1, 0, 0);
    expect(ledger.view()).toMatchObject({ missing: 23, unexplained: 4, notHere: 22 });
    expect([...ledger.view().causesHere]).toEqual([
      ['log_retention', 18],
      ['unexplained', 4],
    ]);
  });

  it('counts a gap that began before the page only as far as it lacks samples', () => {
    ledger.reportGaps([gap('network', 5, 12)]);
    ledger.add(13, 1, 0, 0);
    expect(events()).toEqual([['network', 2, 11, 12]]);
  });

  it('counts several gaps together if the DAC does', () => {
    ledger.reportGaps([gap('ring_full', 11, 99, 40)]);
    ledger.announceGap('latest');
    ledger.add(100, 1, 40, 0);
    expect(ledger.view()).toMatchObject({ missing: 89, notHere: 49 });
  });

  it('forgets reports with the batch that they announce', () => {
    ledger.reportGaps([gap('ring_full', 15, 16)]);
    ledger.add(11, 1, 0, 0);
    ledger.add(17, 1, 0, 0);
    expect(ledger.view()).toMatchObject({ missing: 5, unexplained: 5 });
  });

  it('counts what the end of a run has lost, and what is missing at the start of the next', () => {
    ledger.setRun('one');
    ledger.setRun('two');
    ledger.reportGaps([gap('node_restart', 11, 14), gap('ring_full', 1, 2)]);
    ledger.add(3, 1, 2, 0);
    expect(events()).toEqual([
      ['ring_full', 2, 1, 2],
      ['node_restart', 4, 11, 14],
    ]);
    expect(ledger.view()).toMatchObject({ missing: 6, unexplained: 0, notHere: 0 });
  });

  it('takes the word of the node if an earlier DAC reports no causes', () => {
    ledger.add(14, 1, 3, 0);
    ledger.setRecorder(true);
    ledger.add(20, 1, 5, 0);
    expect(ledger.view()).toMatchObject({ missing: 3, keptBack: 5, notHere: 0 });
    expect(events().map(([cause]) => cause)).toEqual(['kept_back', 'node_dropped']);
  });
});
