const conditions = new Map([
  ['running', 'Running'],
  ['backing_off', 'Waiting to restart'],
  ['stopped', 'Stopped'],
  ['failed', 'Failed'],
]);

/** The list of handlers. */
export const handlerStrings = {
  handlers: {
    title: 'Handlers',
    tip: 'Handlers act on samples inside the DAC, such as the archive',
    /** The condition and what the handler reports of its own work; words of a newer DAC as they are. */
    status: (condition: string, activity: string): string =>
      [conditions.get(condition) ?? condition, activity].filter(Boolean).join(', '),
    restarts: (count: number) => (count === 1 ? '1 restart' : `${count} restarts`),
  },
};
