import type { WantedKind } from '../panels/build.ts';
import type { PanelKind, SeriesMode } from '../panels/spec.ts';

/** Panels and the dialog that adds them. */
export const panelsStrings = {
  panels: {
    kind: {
      instance: 'values',
      auto: 'panel',
      series: 'chart',
      states: 'states',
      gauge: 'gauge',
      histogram: 'histogram',
      events: 'events',
      rose: 'wind',
      xy: 'XY',
      spectrum: 'spectrum',
      statistics: 'statistics',
      number: 'number',
      text: 'text',
      ledger: 'Ledger',
      alarms: 'Alarms',
      'test-runs': 'Test runs',
    } satisfies Record<PanelKind, string>,
    mode: { lines: 'chart', shares: 'shares' } satisfies Record<SeriesMode, string>,
    intervals: 'intervals',
    over: (y: string, x: string) => `${y} over ${x}`,
    loading: 'Loading\u2026',
    notLoaded: 'The DAC did not send the code of this panel.',
    loadAgain: 'Load again',
    close: (title: string) => `Close ${title}`,
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
      `Saved: minimum, maximum and last value of each column of pixels (${step}). oasis export writes every sample.`,
  },

  states: { mixed: (last: string) => `several, last ${last}` },

  events: {
    filter: 'Search events',
    searched: (found: string, isCut: boolean, searched: string) =>
      `${isCut ? `The newest ${found}` : found} found in the newest ${searched} of the time shown`,
    empty: 'No events in the time shown.',
  },

  legend: {
    tip: (doc: string) =>
      `${doc}\nClick: show or hide. Alt-click: show only this line. Right-click: copy the value.`,
  },

  add: {
    title: 'Add a panel',
    kind: 'Kind',
    kinds: {
      chart: 'Chart',
      expression: 'Expression',
      xy: 'XY',
      spectrum: 'Spectrum',
      statistics: 'Statistics',
      number: 'Number',
      text: 'Text',
      shares: 'Shares',
      states: 'States',
      gauge: 'Gauge',
      wind: 'Wind',
      histogram: 'Histogram',
      intervals: 'Intervals',
      events: 'Events',
      values: 'Values',
      ledger: 'Ledger',
      alarms: 'Alarms',
      'test-runs': 'Test runs',
    } satisfies Record<WantedKind, string>,
    about: {
      chart: 'Numbers over time, of one or more instances.',
      expression: 'A chart of a formula: metrics of any instances, with their units.',
      xy: 'One value over another, such as a position or a characteristic; time is the color.',
      spectrum: 'The frequencies in values that are taken regularly.',
      statistics: 'Count, mean, deviation, percentiles and what is missing, of the time shown.',
      number: 'The newest value in large digits, with its course.',
      text: 'Notes in Markdown, with values in them.',
      shares: 'Counters as shares of their sum.',
      states: 'States over time.',
      gauge: 'The newest value between its limits, one dial for each metric.',
      wind: 'A wind rose: from which direction, how often and how fast.',
      histogram: 'The distribution of values, one histogram for each metric.',
      intervals: 'The distribution of the time between samples.',
      events: 'A list of samples.',
      values: 'The newest sample of an instance, with commands.',
      ledger: 'Received and missing samples, causes, and the time of each hop.',
      alarms: 'Warnings and alarms.',
      'test-runs': 'Named spans of time: start, stop, show and compare them.',
    } satisfies Record<WantedKind, string>,
    filter: 'Filter by node, instance, type or metric',
    whole: 'All metrics',
    nothing: 'No instance is watched: select one in the list first.',
    xAxis: 'To the right',
    yAxis: 'Upward',
    noMatch: 'No instance with such a metric matches the filter.',
    more: (count: string) => `${count} more instances: type to filter`,
    add: (count: number) => (count > 1 ? `Add ${count} panels` : 'Add'),
  },
};
