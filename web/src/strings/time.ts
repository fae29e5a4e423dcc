import type { PastState } from '../past/archive_reader.ts';

const levels = new Map([
  ['raw', 'samples'],
  ['1s', 'one-second roll-ups'],
  ['1m', 'one-minute roll-ups'],
  ['1h', 'one-hour roll-ups'],
]);

/** The bar of the time that is shown, and notes at moments. */
export const timeStrings = {
  past: {
    tip: 'What lies before the oldest sample that this page remembers comes from the archive of the DAC',
    state: (state: PastState, level: string | undefined): string => {
      if (state === 'failed') return 'The archive did not answer; trying again';
      if (state === 'reading') return 'Reading the archive\u2026';
      return `From the archive: ${levels.get(level ?? '') ?? level ?? ''}`;
    },
  },

  moment: {
    title: 'Go to a moment',
    field: 'Date and time, as the clock of this browser has it',
    go: 'Go there',
  },

  time: {
    title: 'Time',
    moment: 'Go to a moment (j)',
    live: 'Live',
    paused: 'Paused',
    pauseTip: 'Pause (space)',
    liveTip: 'Back to now (space)',
    span: 'How much time is shown',
    earlier: 'Earlier (arrow left)',
    later: 'Later (arrow right)',
    slider: 'End of the time shown, between the oldest sample held and now',
    compare: 'Lay an earlier time over what is shown',
    compareNone: 'No overlay',
    compareWith: (ago: string) => `and ${ago} before`,
  },

  notes: {
    title: 'Notes',
    text: 'What happened here?',
    add: 'Add',
    remove: 'Remove',
    more: (count: string, until: string) =>
      `Only the first ${count} notes of this time are shown, up to ${until}: show less time to see any behind them.`,
    moreShort: (until: string) => `Notes only up to ${until}`,
    full: (most: number) => `A layout has room for ${most} notes: remove one first.`,
    forAll: 'The DAC keeps notes, for everybody who looks at this time.',
    forLayout: 'Notes belong to this layout: the DAC has no archive to keep them in.',
  },
};
