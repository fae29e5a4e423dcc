/** Warnings and alarms. */
export const alarmsStrings = {
  alarms: {
    tab: (count: number) => `(${count}) OASIS`,
    sentence: (label: string, because: string) => `${label} is ${because}`,
    severity: { warn: 'Warning', alarm: 'Alarm' },
    empty: 'No warnings or alarms since this page was opened.',
    acknowledge: 'Acknowledge',
    acknowledgeAll: 'Acknowledge all',
    clear: 'Clear resolved',
    clearTip: 'Remove alarms that are over and acknowledged',
    loud: 'Sound and notifications',
    loudTip: 'A tone with each new alarm, and a notification while this page is hidden',
    goThere: 'Show this moment',
    active: (duration: string, isOlder: boolean) => `for ${isOlder ? 'at least ' : ''}${duration}`,
    over: (duration: string, isOlder: boolean) => `lasted ${isOlder ? 'at least ' : ''}${duration}`,
  },
};
