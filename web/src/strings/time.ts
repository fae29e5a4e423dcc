import type { PastState } from '../past/reads.ts';
import type { MarkerLevel } from '../series/log_levels.ts';

const levels = new Map([
  ['raw', 'samples'],
  ['1s', 'one-second roll-ups'],
  ['1m', 'one-minute roll-ups'],
  ['1h', 'one-hour roll-ups'],
]);

/** The time bar, the past, and notes. */
export const timeStrings = {
  past: {
    tip: 'Samples older than those in the memory of this page come from the archive of the DAC',
    state: (state: PastState, level: string | undefined): string => {
      if (state === 'failed') return 'The archive did not answer; retrying';
      if (state === 'reading') return 'Reading the archive\u2026';
      return level === undefined ? '' : `From the archive: ${levels.get(level) ?? level}`;
    },
    /** What the shown part leaves out; each follows `state`. */
    thinned: (step: string) => `one sample of each ${step}`,
    mixed: (step: string) => `several states within ${step} shown as one`,
    newest: (count: string) => `only the newest ${count}`,
    since: (time: string) => `Only from the memory of this page, since ${time}`,
    until: (time: string) => `Up to ${time}`,
    now: 'Shows now, not the time of the charts',
    nowShort: 'Now:',
    at: (time: string) => `At ${time}`,
    moment: (state: PastState, before: string | undefined, level: string | undefined): string => {
      if (state === 'failed') return 'the DAC did not answer; retrying';
      if (state === 'reading') return 'reading\u2026';
      if (before === undefined) return 'no sample stored at or before this time';
      const from = level === undefined ? '' : `, of ${levels.get(level) ?? level}`;
      return `taken ${before} before${from}`;
    },
  },

  offline: {
    newest: (instance: string, time: string, ago: string) =>
      `${instance} is offline. Its newest sample was taken at ${time}, ${ago} ago.`,
    show: 'Show the newest sample',
    nothing: (instance: string) => `${instance} is offline and has no stored samples.`,
  },

  moment: {
    title: 'Go to a moment',
    field: (zone: string) => `Date and time (${zone})`,
    go: 'Go',
    overlay: 'Overlay',
    overlayTip: 'Draw the charts of that time over those that are shown',
    notEarlier: 'Only an earlier time can be drawn over the one that is shown.',
    twice: 'The clock shows this time twice',
    first: (offset: string) => `first (UTC${offset})`,
    second: (offset: string) => `second (UTC${offset})`,
    never: 'The clock never shows this time: summer time begins there.',
    future: 'This time is in the future: there are no samples yet.',
  },

  time: {
    title: 'Time',
    moment: 'Go to a moment (j)',
    pause: 'Pause',
    resume: 'Resume',
    pauseTip: 'Live: pause (space)',
    resumeTip: 'Paused: resume with the newest samples (space)',
    play: 'Play from here (k)',
    stopPlaying: 'Stop playing (k)',
    speed: 'Speed of playing (< and >)',
    times: (speed: number) => `${speed}\u00d7`,
    span: 'Length of the time shown',
    zoneTip: (shown: string, other: string) => `All times on this page are ${shown}. Click: ${other}`,
    earlier: 'Earlier (arrow left)',
    later: 'Later (arrow right)',
    slider: 'End of the time shown, between the oldest available sample and now',
    compare: 'Overlay an earlier time',
    compareNone: 'No overlay',
    compareOther: 'Overlay another time\u2026',
    compareWith: (ago: string) => `Overlay ${ago} earlier`,
  },

  markers: {
    choose: 'Log records that are marked on charts',
    levels: {
      off: 'No log marks',
      error: 'Mark errors',
      warn: 'Mark warnings',
      info: 'Mark infos',
    } satisfies Record<MarkerLevel, string>,
    levelOf: (level: number) =>
      ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'][
        Math.min(5, Math.max(0, Math.floor((level - 1) / 4)))
      ],
    record: (time: string, level: string, instance: string, text: string) =>
      `${time} ${level} ${instance}: ${text}`,
    alarm: (time: string, severity: string, rule: string) => `${time} alarm, ${severity}: ${rule}`,
    more: (count: number) => `${count} more`,
    since: (time: string) => `Log records marked only since ${time}`,
  },

  notes: {
    title: 'Notes',
    text: 'What happened here?',
    whole: 'All the time that the charts show',
    drawn: 'The time that was drawn',
    span: (from: string, to: string) => `${from} \u2013 ${to}`,
    add: 'Add',
    remove: 'Remove',
    more: (count: string, until: string) =>
      `Only the first ${count} notes of this time are shown, up to ${until}. Zoom in to see later ones.`,
    moreShort: (until: string) => `Notes only up to ${until}`,
    several: (count: number) => `${count} notes`,
    full: (most: number) => `A layout keeps at most ${most} notes: remove one first.`,
    forAll: 'The DAC stores notes; all users see them.',
    forLayout: 'Notes are stored in this layout, because the DAC has no archive.',
  },
};
