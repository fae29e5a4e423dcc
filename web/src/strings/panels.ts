/** Panels. */
export const panelsStrings = {
  panels: {
    mode: { lines: 'chart', shares: 'shares' },
    intervals: 'intervals',
    beside: (metric: string, runs: string) => `${metric} in ${runs}`,
    instances: (count: number) => `${count} instances`,
    over: (y: string, x: string) => `${y} over ${x}`,
    loading: 'Loading\u2026',
    notLoaded: 'The DAC did not send the code of this panel.',
    loadAgain: 'Load again',
    settings: 'Panel settings (i)',
    cannotAdd: 'This chart has these numbers already, or cannot draw them.',
    cannotChange: 'The panels of the other instances cannot have this change.',
    noSettings: 'The active panel has no settings: charts, gauges and numbers do.',
    close: (title: string) => `Close ${title}`,
    maximize: (title: string) => `Maximize ${title} (m)`,
    fullScreen: (title: string) => `Full screen for ${title}, and back (f)`,
    restore: (title: string) => `Show ${title} beside the others again (m)`,
    /** What a screen reader says; names of the docking library. */
    said: {
      panelOpened: (title: string) => `${title} opened`,
      panelClosed: (title: string) => `${title} closed`,
      groupMaximized: (title: string) => `${title} maximized`,
      groupRestored: (title: string) => `${title} restored`,
    },
    chart: (lines: string) => `Chart over time of ${lines}; the values are listed below it`,
    waiting: (instance: string) => `Waiting for ${instance}\u2026`,
  },

  histogram: {
    title: 'Distribution of values',
    empty: 'No samples in the time shown.',
    samples: 'Samples',
    of: (samples: string, all: string) => `${samples} of ${all}`,
    min: 'Min',
    median: 'Median',
    mean: 'Mean',
    p99: '99th percentile',
    max: 'Max',
    scale: 'Height: square root of the count',
    bar: (from: string, count: string) => `from ${from}: ${count}`,
  },

  rose: {
    empty: 'No wind in the time shown.',
    now: (now: string) => `Wind now: ${now}`,
    atEnd: (then: string) => `Wind at the end of the time shown: ${then}`,
    points: ['N', 'E', 'S', 'W'],
    below: (bound: string) => `below ${bound}`,
    above: (bound: string) => `${bound} and more`,
  },

  table: {
    columnEnd: 'time',
    figures: ['min', 'max', 'last'],
    rows: (step: string) =>
      `Saved: minimum, maximum and last value of each column of pixels (${step}). The key w saves every sample.`,
  },

  states: { mixed: (last: string) => `several, last ${last}` },

  events: {
    filter: 'Search events',
    allTime: 'Search all time',
    searched: (found: string, isCut: boolean, searched: string) =>
      `${isCut ? `The newest ${found}` : found} found in the newest ${searched} of the time shown`,
    empty: 'No events in the time shown.',
    trace: 'Trace',
    traceTip: 'Show the trace of this record',
    noTrace: 'The trace of this record is not in the time shown, or has not ended yet.',
  },

  legend: {
    tip: (doc: string) =>
      `${doc}\nClick: show or hide. Alt-click: show only this line. Right-click: copy the value.`,
    sample: (value: string, time: string) => `${value}, the sample of ${time}`,
    last: (value: string, time: string) => `${value}, the last sample of its place on the chart, of ${time}`,
    rate: (value: string, time: string) => `${value} at ${time}, from the steps of the counter before`,
    between: (low: string, high: string) => `samples there: ${low} to ${high}`,
    nothing: 'No sample yet at this time',
  },
};
