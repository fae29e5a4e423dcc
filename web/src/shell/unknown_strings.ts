import type { Unknown } from '../state/unknown.ts';

/** What an address names and the DAC does not know. Loaded when there is such a thing. */
export const unknownStrings = {
  title: 'Unknown names',
  says: (unknown: Unknown): string => {
    if (unknown.kind === 'node') return `There is no node ${unknown.name} that this page may read.`;
    if (unknown.kind === 'run') return `There is no test run ${unknown.name} that this page may read.`;
    return unknown.node === undefined
      ? `No node has an instance ${unknown.name} that this page may read.`
      : `${unknown.node} has no instance ${unknown.name} that this page may read.`;
  },
  others: (count: number) => `${count} more names are unknown.`,
  meant: 'Did you mean',
  open: (name: string) => `Show ${name} in its place`,
  all: 'Show all nodes',
  allTip: 'Leave this link, and show all nodes that the DAC knows',
};
