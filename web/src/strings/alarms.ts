/** Warnings and alarms, as the whole page says them. */
export const alarmsStrings = {
  alarms: {
    tab: (count: number) => `(${count}) OASIS`,
    sentence: (label: string, because: string) => `${label} is ${because}`,
    raisedSentence: (rule: string, instance: string) => `${rule}: ${instance}`,
    noAlarms:
      'Set enabled = true in the section [rules] of oasis.toml. A relay never keeps alarms: open the page of its DAC.',
    severities: { low: 'Low', medium: 'Medium', high: 'High', critical: 'Critical' },
    bell: (parts: string) => `Alarms (g): ${parts} not acknowledged`,
  },
};
