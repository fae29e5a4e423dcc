import { lossCause } from '@oasis/wire';
import type { GapCause, Interruption } from '../series/causes.ts';

const samples = (count: string, isOne: boolean) => (isOne ? `${count} sample` : `${count} samples`);

/** Missing samples and their causes. */
export const ledgerStrings = {
  ledger: {
    archiveWarning: (detail: string) => `The archive will evict samples: ${detail}.`,
    door: 'Door',
    bandwidth: 'Received per second',
    messages: 'Messages',
    total: 'Received in total',
    offset: 'Clock offset',
    roundTrip: 'Round trip',
    columns: [
      ['Instance', 'The watched instances', 'is-text'],
      ['Missing', 'Samples that were taken and did not reach the DAC since it started'],
      ['Cause', 'Causes of the missing samples', 'is-text'],
      ['Received here', 'Samples that this page received since it was opened'],
      [
        'Not received here',
        'Samples that the DAC has or had, and that this page did not receive since it was opened, with their causes',
      ],
      ['Rate', 'Measured, over the last second or eight samples'],
      ['Age', 'Time since the newest sample was taken, clocks corrected'],
      ['In node', "Time the newest sample spent in its node, by the node's clock"],
      ['To DAC', 'From the node into the DAC, clocks corrected'],
      ['To page', 'From the DAC into this browser, clocks corrected'],
      [
        'On arrival',
        'Age of the newest sample when it arrived here, and the age to expect from delays, door and rate',
      ],
      ['Node clock', 'DAC clock minus node clock, and its uncertainty'],
    ] as readonly (readonly [name: string, tip: string, kind?: string])[],
    /** Says what the numbers count; `dac` is empty if it is not known when the DAC started. */
    scopes: (dac: string, page: string) =>
      `Listed are the watched instances; the fleet has all of them. Missing: since the DAC started${dac === '' ? '' : ` at ${dac}`}. Cards, the fleet and the API have the same number. Received here and not received here: since this page was opened at ${page}.`,
    keptBack: (count: string) => `${count} kept back on purpose`,
    within: (offset: string, half: string) => `${offset} \u00b1 ${half}`,
    expected: (age: string) => `expected ${age}`,
    filter: 'Filter by node or instance',
    causeFilter: 'Filter by cause',
    anyCause: 'All causes',
    /** The word, as documents and scripts have it, and its meaning. */
    causeChoice: (cause: string): string => [cause, lossCause(cause)?.meaning].filter(Boolean).join(': '),
    nothing: 'No watched instance matches the filter. The fleet has the others.',
    gap: (time: string, numbers: string, count: string) => `${time}: ${numbers} (${count})`,
    path: {
      taken: 'taken by the probe',
      received: 'received by the DAC',
      here: 'received here',
      tip: 'Read from the DAC every 2 s. Taken and received by the DAC: since the DAC started, plus what it knows of earlier. Received here: samples of the same log that the DAC sent to this page',
      recorded: 'in the flight recorder, or kept back by it: no trigger fired since',
      place: {
        to_come: 'on the way to the DAC, or waiting in the node',
        stored_before: 'stored by an earlier epoch of the DAC',
      },
    },
  },

  gaps: {
    title: 'Gaps and interruptions',
    none: 'No gaps or interruptions in the samples that this page has.',
    noneOffline: 'The node is offline. See the charts for gaps in its history.',
    explain: 'What the log and the alarms say about this time',
    missing: (count: string, isOne: boolean) => `${samples(count, isOne)} missing`,
    /** Says how many samples a gap has; those that a flight recorder kept back are not called missing. */
    amount: (cause: GapCause, count: string, isOne: boolean) =>
      cause === 'kept_back' ? `${samples(count, isOne)} kept back` : ledgerStrings.gaps.missing(count, isOne),
    numbers: (from: string, to: string) => (from === to ? `#${from}` : `#${from} to #${to}`),
    /** Describes the cause of a gap; `count` is 0 for an interruption. An unknown cause is shown as it is. */
    describe: (cause: GapCause, count: number): string =>
      (count === 0 ? interruptions.get(cause) : undefined) ?? lossCause(cause)?.meaning ?? cause,
    note: (duration: string, ...causes: readonly string[]) =>
      [duration, ...causes].filter(Boolean).join(' \u00b7 '),
  },
};

/** Interruptions: no sample is missing. The texts of the causes of loss are in `@oasis/wire`. */
const interruptions = new Map<GapCause, string>(
  Object.entries({
    epoch_changed: 'the DAC restarted',
    node_restart: 'the node restarted; its sequence numbers start at 1 again',
    reconnected: 'the page lost its connection and reconnected',
    disabled: 'the probe was disabled',
    node_offline: 'the node was offline',
    silent: 'no samples were taken; none are missing',
    no_value: 'the expression has no value: an input is missing or too old, or the result is no number',
  } satisfies Record<Interruption | 'epoch_changed' | 'node_restart', string>),
);
