/** The bar of the time that is shown, and notes at moments. */
export const timeStrings = {
  time: {
    title: 'Time',
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
  },
};
