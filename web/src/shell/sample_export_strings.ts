import type { ExportFormat } from '../raw_export/formats.ts';

/** Saving samples as a file. */
export const sampleExportStrings = {
  title: 'Save samples',
  about: (from: string, to: string) => `Every sample from ${from} to ${to}, the time shown on the charts`,
  instances: 'Instances',
  none: 'No instance is watched: select one in the list first.',
  format: 'Format',
  formats: {
    csv: 'CSV, a file for each instance',
    jsonl: 'JSON lines, one file',
    arrow: 'Arrow stream, a file for each instance',
    parquet: 'Parquet, a file for each instance',
    mcap: 'MCAP for Foxglove, one file',
  } satisfies Record<ExportFormat, string>,
  start: 'Save',
  stop: 'Stop',
  stopped: 'Stopped; nothing was saved.',
  waiting: (instance: string) => `The type of ${instance} is not known yet: try again.`,
  progress: (samples: string, bytes: string) => (samples === '' ? bytes : `${samples} samples, ${bytes}`),
  saved: (samples: string, bytes: string, missing: string) =>
    `Saved: ${samples === '' ? '' : `${samples} samples, `}${bytes}${missing === '' ? '' : `; missing: ${missing}`}`,
  nothing: 'There is no sample in this time.',
  tooLarge: (most: string) =>
    `More than ${most}: nothing was saved. Show less time, or use the command below, which has no such limit.`,
  command: 'The same on the command line, where the archive is',
  copy: 'Copy the command',
};
