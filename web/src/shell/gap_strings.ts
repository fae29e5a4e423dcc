/** The dialog about a gap, loaded with it. */
export const gapStrings = {
  title: 'Why are there no samples?',
  span: (from: string, to: string, length: string) => `${from} \u2013 ${to} (${length})`,
  show: 'Show this time on the charts',
  log: (node: string) => `Log of ${node} around it`,
  alarms: (node: string) => `Alarms of ${node} around it`,
  noLog: 'This node reports no log.',
  noRecords: 'The log has no record of this time.',
  noAlarms: 'No alarm changed in this time.',
  reading: 'Reading\u2026',
  more: (count: number) => `Only the first ${count} are listed.`,
  stopped: (time: string) =>
    `The search stopped${time && ` at ${time}`}: later records of this time were not searched.`,
  newest: (count: number) => `Only the newest ${count} are listed.`,
  moreNodes: (count: number) => `${count} more nodes: open a chart of them alone.`,
  entry: (kind: string, rule: string, instance: string) => `${kind}: ${rule} of ${instance}`,
};
