/** Warnings and alarms, as the whole page says them. */
export const alarmsStrings = {
  alarms: {
    tab: (count: number) => `(${count}) OASIS`,
    sentence: (label: string, because: string) => `${label} is ${because}`,
    raisedSentence: (rule: string, instance: string) => `${rule}: ${instance}`,
    noAlarms: 'Set directory in the section [rules] of its configuration.',
    severities: { low: 'Low', medium: 'Medium', high: 'High', critical: 'Critical' },
    bell: (parts: string) => `Alarms (g): ${parts} not acknowledged`,
  },
};
