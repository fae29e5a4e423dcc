/** Importing recordings. */
export const importStrings = {
  title: 'Import a recording',
  about: 'Choose a file, or drop it on the page. Nothing is stored before you confirm.',
  files: 'Recording, or the files of one of rosbag2',
  sending: (percent: string) => `Sending: ${percent}`,
  reading: (percent: string, left: string) => `Reading: ${percent}${left}`,
  left: (seconds: number) => `, ${seconds} s left`,
  waiting: 'Waiting for the DAC',
  cancel: 'Cancel',
  another: 'Choose another file',
  summary: (format: string, series: number, samples: string) =>
    `${format}, ${series} series, ${samples} samples`,
  more: (count: number) => `${count} more`,
  losses: 'Left out',
  notes: 'Notes',
  name: 'Name of the node, or prefix of its nodes',
  byFile: 'As the file',
  partial: 'Leave out defective records',
  start: 'Import',
  stored: (samples: string, known: number) =>
    `${samples} samples imported${known > 0 ? `, ${known} already stored` : ''}`,
  show: 'Show the recording',
};
