import type { WindowName } from '../series/transform.ts';

/** How many values of a line are infinite. */
export const infiniteWords = (count: number, name = '', place = '') =>
  `${name ? `${name}: ` : ''}${count} infinite ${count === 1 ? 'value' : 'values'}${place}`;

/** Panels that show what expressions come to. They are loaded when one is shown. */
export const computedPanelStrings = {
  xy: {
    about: (y: string, x: string) => `${y} over ${x}; time is the color`,
    empty: 'No values of both in the time shown.',
    axes: ['x', 'y'],
    trail: 'Trail',
    whole: 'all',
    equal: 'Equal axes',
    dots: 'Points only',
    atEdge: ', at the edge',
    scale: 'Colors of time: faint is early, strong is late',
    point: (time: string, x: string, y: string) => `${time}: ${x}, ${y}`,
  },

  spectrum: {
    about: (names: string) => `Spectrum of ${names}`,
    size: 'Samples',
    window: 'Window',
    windows: {
      hann: 'Hann',
      blackman: 'Blackman',
      flattop: 'Flat top',
      none: 'None',
    } satisfies Record<WindowName, string>,
    overTime: 'Over time',
    colors: (depth: string, largest: string) => `Colors from ${depth} below to ${largest}`,
    aboutOverTime: (name: string) => `Frequencies of ${name} over time`,
    decibel: 'Decibels',
    logarithmic: 'Logarithmic frequency',
    peak: (place: string) => `Highest: ${place}`,
    at: (frequency: string, amplitude: string) => `${amplitude} at ${frequency}`,
    made: (averaged: string, size: string, rate: string, step: string) =>
      `mean of ${averaged} of ${size} samples at ${rate}, ${step} apart`,
    leftOut: (count: number) => `${count} ${count === 1 ? 'time' : 'times'} without a gap too short`,
    /** In the words that charts and lists have for it. */
    skipped: (count: number, why: string) => `${count} skipped ${count === 1 ? 'period' : 'periods'}: ${why}`,
    reference: (unit: string) => `0 dB is ${unit}`,
    constant: (name: string, value: string) =>
      `${name}: nothing to analyze. All samples are ${value}, and a constant has no frequency.`,
    silent: (name: string, why: string) => `${name}: nothing to analyze; ${why}.`,
    tooFew: (name: string) =>
      `${name}: a spectrum needs 64 single samples without a gap. Show less time if these are roll-ups.`,
    columns: { line: 'value', frequency: 'frequency [Hz]', amplitude: 'amplitude' },
  },

  statistics: {
    title: 'Statistics of the time shown',
    hint: 'Draw a time on a chart to count only that.',
    name: 'Value',
    unit: 'unit',
    from: 'from',
    to: 'to',
    figures: [
      'Samples',
      'Rate',
      'Mean',
      'Deviation',
      'Min',
      '5 %',
      'Median',
      '95 %',
      '99 %',
      'Max',
      'Missing',
    ],
  },

  number: {
    none: 'No value in the time shown.',
    unknown: 'Unknown: an input has no value.',
    taken: (time: string, age: string) => `${time}, ${age} old`,
    course: (name: string) => `Course of ${name} over the time shown`,
    least: (value: string) => `Min ${value}`,
    greatest: (value: string) => `Max ${value}`,
  },

  text: {
    field: 'Text in Markdown',
    example: '# Engine 1\nPower: **{{ engine.torque * engine.speed }}**',
    hint: 'Ctrl-Enter ends.',
    done: 'Done',
    cancel: 'Cancel',
    edit: 'Edit the text',
    empty: 'No text yet.',
    noNode: 'Edit the text again: the node of an instance is missing.',
    noValue: (problem: string) => `(${problem})`,
  },
};
