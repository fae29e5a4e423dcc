/** What was worth a warning or an alarm. */
export const alarmsStrings = {
  alarms: {
    tab: (count: number) => `(${count}) OASIS`,
    sentence: (label: string, because: string) => `${label} is ${because}`,
    severity: { warn: 'Warning', alarm: 'Alarm' },
    empty: 'Nothing has been out of order since this page was opened.',
    acknowledge: 'Acknowledge',
    acknowledgeAll: 'Acknowledge all',
    clear: 'Remove what is over',
    loud: 'Sound and notifications',
    loudTip: 'A tone with each new alarm, and a notification while this page is not seen',
    goThere: 'Show this moment',
    active: (duration: string) => `for ${duration}`,
    over: (duration: string) => `lasted ${duration}`,
  },
};
