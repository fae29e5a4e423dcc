import type { PastState } from '../stream/query.ts';

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
      return level === undefined ? '' : `From the archive: ${levels.get(level) ?? level}`;
    },
    /** What it is not made from, behind what it is made from. */
    thinned: (step: string) => `one sample of each ${step}`,
    mixed: (step: string) => `several states within ${step} as one`,
    newest: (count: string) => `only the newest ${count}`,
    since: (time: string) => `Only what this page remembers, since ${time}`,
    until: (time: string) => `Up to ${time}`,
    now: 'Now, not the time of the charts',
    nowShort: 'now:',
    at: (time: string) => `At ${time}`,
    moment: (state: PastState, before: string | undefined, level: string | undefined): string => {
      if (state === 'failed') return 'the DAC did not answer; trying again';
      if (state === 'reading') return 'reading\u2026';
      if (before === undefined) return 'no sample is kept of then or before';
      const from = level === undefined ? '' : `, of ${levels.get(level) ?? level}`;
      return `taken ${before} before${from}`;
    },
  },

  offline: {
    newest: (instance: string, time: string, ago: string) =>
      `${instance} is offline. Its newest sample is of ${time}, ${ago} ago.`,
    show: 'Show it',
    nothing: (instance: string) => `${instance} is offline, and nothing of it is kept.`,
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
    zoneTip: 'All times on this page are in the time zone of this browser',
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
    several: (count: number) => `${count} notes`,
    full: (most: number) => `A layout has room for ${most} notes: remove one first.`,
    forAll: 'The DAC keeps notes, for everybody who looks at this time.',
    forLayout: 'Notes belong to this layout: the DAC has no archive to keep them in.',
  },
};
