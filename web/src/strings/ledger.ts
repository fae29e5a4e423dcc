import type { BreakCause } from '../stream/query.ts';

const samples = (count: string, isOne: boolean) => (isOne ? `${count} sample` : `${count} samples`);

/** Missing samples and their causes. */
export const ledgerStrings = {
  ledger: {
    door: 'Door',
    bandwidth: 'Received per second',
    messages: 'Messages',
    total: 'Received in total',
    offset: 'Clock offset',
    roundTrip: 'Round trip',
    columns: [
      ['Instance', 'The watched instances', 'is-text'],
      ['Received', 'Samples that arrived since this page began to watch'],
      ['Missing', 'Samples that were taken and did not arrive'],
      ['Cause', 'Causes of the missing samples', 'is-text'],
      ['Rate', 'Measured, over the last second or eight samples'],
      ['Age', 'Time since the newest sample was taken, clocks corrected'],
      ['In node', "Time the newest sample spent in its node, by the node's clock"],
      ['To DAC', 'From the node into the DAC, clocks corrected'],
      ['To page', 'From the DAC into this browser, clocks corrected'],
      ['Node clock', 'DAC clock minus node clock, and its uncertainty'],
    ] as readonly (readonly [name: string, tip: string, kind?: string])[],
    within: (offset: string, half: string) => `${offset} \u00b1 ${half}`,
    filter: 'Filter by node or instance',
    causeFilter: 'Filter by cause',
    anyCause: 'Any cause',
    nothing: 'No watched instance matches the filter.',
    gap: (time: string, numbers: string, count: string) => `${time}: ${numbers} (${count})`,
    path: {
      taken: 'taken by the probe',
      received: 'received by the DAC',
      here: 'received here',
      tip: 'Read from the DAC every 2 s. Taken and received by the DAC: since the DAC started, plus what it knows of earlier. Received here: samples of the same log that the DAC sent to this page',
      recorded: 'in the flight recorder, or kept back by it: no trigger fired since',
      /** By the names that the DAC gives them; others are shown as they are. */
      cause: new Map([
        ['ring_full', 'the ring of the probe was full'],
        ['invalid_row', 'its row did not fit the schema of the probe: see the log of the node'],
        ['spool_full', 'the spool of the node was full, or its file damaged'],
        ['network', 'sent as datagrams that did not arrive'],
        ['kept_back', 'the flight recorder kept them back: no trigger fired'],
        ['node_restart', 'the process of the node ended before it could send them'],
        ['before_epoch', 'delivered to an earlier epoch of the DAC'],
        ['not_recorded', 'missing from the recording that is played back'],
        ['unexplained', 'unexplained: please report this as a bug'],
        ['to_come', 'on the way to the DAC, or waiting in the node'],
        ['stored_before', 'stored by an earlier epoch of the DAC'],
      ]),
    },
  },

  gaps: {
    title: 'Gaps and interruptions',
    none: 'No gaps, no interruptions.',
    noneOffline: 'The node is offline. See the charts for gaps in its history.',
    missing: (count: string, isOne: boolean) => `${samples(count, isOne)} missing`,
    numbers: (from: string, to: string) => (from === to ? `#${from}` : `#${from} to #${to}`),
    cause: {
      kept_back:
        'kept back by the flight recorder; if the node dropped some of them, the ledger shows how many',
      node_dropped: 'dropped by the node: its buffers were full',
      log_retention: 'evicted from the topic log before this page read them',
      epoch_changed: 'the DAC restarted',
      node_restart: 'the node restarted; its sequence numbers start at 1 again',
      reconnected: 'the page lost its connection and reconnected',
      not_recorded: 'missing from the recording that is played back',
      unexplained: 'unexplained: please report this as a bug',
      disabled: 'the probe was disabled',
      node_offline: 'the node was offline',
      silent: 'no samples were taken; none are missing',
    } satisfies Record<BreakCause, string>,
    /** The description of a cause, of the page's own or of the DAC's and its archive's. */
    describe: (cause: string): string => descriptions.get(cause) ?? cause,
    note: (duration: string, missing: string, cause: string) =>
      [duration, missing, cause].filter(Boolean).join(' \u00b7 '),
    duration: (duration: string) => `after ${duration}`,
  },
};

const descriptions = new Map<string, string>([
  ...ledgerStrings.ledger.path.cause,
  ...Object.entries(ledgerStrings.gaps.cause),
  ['archive_lag', 'the archive lagged, and the topic log evicted them first'],
  // A former word of the same cause.
  ['archive_behind', 'the archive lagged, and the topic log evicted them first'],
  ['latest', 'only the newest sample was requested'],
  ['disk_full', "the archive's disk was full"],
  ['disk_error', "the archive's disk failed"],
  ['archive_retention', 'evicted by the retention of the archive'],
  ['damaged', 'their bytes on the disk are damaged'],
  ['read_error', "the archive's disk failed to read them"],
  ['unreadable', 'they do not fit their schema'],
]);
