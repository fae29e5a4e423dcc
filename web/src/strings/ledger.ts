import type { BreakCause } from '../stream/query.ts';

const samples = (count: string, isOne: boolean) => (isOne ? `${count} sample` : `${count} samples`);

/** What is missing, and why. */
export const ledgerStrings = {
  ledger: {
    door: 'Door',
    bandwidth: 'Coming in',
    messages: 'Messages',
    total: 'In total',
    offset: 'DAC clock minus this one',
    roundTrip: 'Round trip to the DAC',
    columns: [
      ['Instance', 'What is watched', 'is-text'],
      ['Received', 'Samples that arrived here since the page began to watch'],
      ['Missing', 'Samples that were taken and did not arrive'],
      ['Why', 'What the missing ones are made of', 'is-text'],
      ['Rate', 'Measured, over the last second or eight samples'],
      ['Age', 'Time since the newest sample was taken, clocks corrected'],
      ['In node', "From when the newest sample was taken to when its node sent it on, by the node's clock"],
      ['To DAC', 'From the node into the DAC, clocks corrected'],
      ['To page', 'From the DAC into this browser, clocks corrected'],
      ['Node clock', 'DAC clock minus node clock, and how well that is known'],
    ] as readonly (readonly [name: string, tip: string, kind?: string])[],
    within: (offset: string, half: string) => `${offset} \u00b1 ${half}`,
    filter: 'Filter by node or instance',
    causeFilter: 'Only what misses samples for one cause',
    anyCause: 'Whatever is missing',
    nothing: 'Nothing that is watched gets through the filter.',
    hole: (time: string, numbers: string, count: string) => `${time}: ${numbers} (${count})`,
    path: {
      taken: 'taken by the probe',
      received: 'received by the DAC',
      here: 'received here',
      tip: 'As it was when the DAC was last asked, which is every 2 s. Probe and DAC: since the DAC was started, with what it knows of before. Here: of what the DAC received, what this page was sent',
      recorded: 'in the flight recorder, or kept back by it: no trigger fired since',
      /** By the names that the DAC gives them; others are shown as they are. */
      cause: new Map([
        ['ring_full', 'the ring of the probe was full'],
        ['invalid_row', 'its row did not fit the schema of the probe: see the log of the node'],
        ['spool_full', 'the spool of the node was full, or its file damaged'],
        ['network', 'sent as datagrams and lost on the way'],
        ['kept_back', 'the flight recorder kept them back: no trigger fired'],
        ['node_restart', 'the node ended before it could send them'],
        ['before_epoch', 'sent to an earlier life of the DAC'],
        ['not_recorded', 'the recording that is played back does not have them'],
        ['unexplained', 'unexplained: please report this'],
        ['to_come', 'on the way to the DAC, or waiting in the node'],
        ['stored_before', 'stored by an earlier life of the DAC'],
      ]),
    },
  },

  gaps: {
    title: 'What happened',
    none: 'Nothing missing, nothing interrupted.',
    noneOffline: 'The node is offline: nothing new comes. What is missing of its past, the charts say.',
    missing: (count: string, isOne: boolean) => `${samples(count, isOne)} missing`,
    numbers: (from: string, to: string) => (from === to ? `#${from}` : `#${from} to #${to}`),
    cause: {
      kept_back: 'the flight recorder kept them back; if the node dropped some of them, the ledger says so',
      node_dropped: 'the node dropped them: its buffers were full',
      log_retention: 'the topic log no longer held them when this page came for them',
      epoch_changed: 'the DAC restarted',
      node_restart: 'the node restarted; its numbers begin again at 1',
      reconnected: 'connection lost and back',
      not_recorded: 'the recording that is played back does not have them',
      unexplained: 'unexplained: please report this',
      disabled: 'the probe was switched off',
      node_offline: 'the node was offline',
      silent: 'nothing was sampled, and nothing is missing',
    } satisfies Record<BreakCause, string>,
    /** Of what the page saw itself, and of what the DAC and its archive say. */
    why: (cause: string): string => why.get(cause) ?? cause,
    note: (duration: string, missing: string, cause: string) =>
      [duration, missing, cause].filter(Boolean).join(' \u00b7 '),
    duration: (duration: string) => `after ${duration}`,
  },
};

const why = new Map<string, string>([
  ...ledgerStrings.ledger.path.cause,
  ...Object.entries(ledgerStrings.gaps.cause),
  ['archive_behind', 'the archive was too slow for them'],
  ['disk_full', "the archive's disk was full"],
  ['disk_error', "the archive's disk failed"],
  ['archive_retention', 'the archive has let go of them'],
  ['damaged', 'their bytes on the disk are damaged'],
  ['read_error', "the archive's disk did not give them"],
  ['unreadable', 'they do not fit their schema'],
]);
