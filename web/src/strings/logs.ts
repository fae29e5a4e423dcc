import { spoken } from '../language/parts.ts';

/** The log search, loaded with its panel. */
export const logStrings = spoken('logs', {
  text: 'Search all time: words in any text',
  level: 'Least level',
  anyLevel: 'Any level',
  field: 'Field',
  fieldExample: 'NAME=VALUE',
  addField: 'Add the field',
  badField: 'A field is written NAME=VALUE.',
  removeField: (field: string) => `Search without ${field}`,
  withField: (field: string) => `Search with ${field}`,
  from: 'From',
  until: 'Until',
  anyTime: 'All time',
  shownTime: 'The time shown',
  follow: 'Follow',
  followTip: 'New records appear at the top.',
  away: 'New records wait at the top.',
  toNewest: 'Go to the newest and follow',
  all: 'All instances',
  searching: 'Searching\u2026',
  searchingAt: (time: string) => `Searching\u2026 back to ${time}`,
  stop: 'Stop',
  found: (found: string, isAll: boolean, searched: string) =>
    `${found}${isAll ? '' : ' or more'} found in ${searched} samples`,
  stopped: (time: string) => `Stopped at ${time}: older records were not searched.`,
  none: 'No record matches.',
  unreadable: (count: string) => `${count} batches could not be read: records may be missing.`,
  notSearched: (count: string) =>
    `${count} instances are those of other DACs: open the page of their DAC to search them.`,
  most: (count: string) => `The newest ${count} are shown. Narrow the search to see older ones.`,
  older: 'Show older records',
  show: 'Show this moment on the charts',
  context: 'Records around it',
  hideContext: 'Hide the records around it',
  contextOf: (instance: string) => `Records of ${instance} around this one, oldest first`,
});
