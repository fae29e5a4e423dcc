import type { WantedKind } from '../panels/build.ts';
import type { PanelKind, SeriesMode } from '../panels/spec.ts';

/** Panels, and the dialog that puts them together. */
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
      ledger: 'Ledger',
      alarms: 'Alarms',
      'test-runs': 'Test runs',
    } satisfies Record<PanelKind, string>,
    mode: { lines: 'chart', shares: 'shares' } satisfies Record<SeriesMode, string>,
    intervals: 'intervals',
    close: (title: string) => `Close ${title}`,
    chart: (lines: string) => `Chart over time of ${lines}; values stand below it`,
    waiting: (instance: string) => `Waiting for ${instance}\u2026`,
  },

  histogram: {
    title: 'How often which values occurred',
    empty: 'No samples in the time shown.',
    samples: 'samples',
    of: (samples: string, all: string) => `${samples} of ${all}`,
    min: 'least',
    median: 'median',
    mean: 'mean',
    p99: '99th percentile',
    max: 'greatest',
    scale: 'height: square root of the count',
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

  states: { mixed: (last: string) => `several, last ${last}` },

  events: {
    filter: 'Filter what happened',
    empty: 'Nothing in the time shown.',
  },

  legend: {
    tip: (doc: string) =>
      `${doc}\nClick: show or hide. Alt and click: this line alone. Right click: copy the value.`,
  },

  add: {
    title: 'Add a panel',
    kind: 'Kind',
    kinds: {
      chart: 'Chart',
      shares: 'Shares',
      states: 'States',
      gauge: 'Gauge',
      histogram: 'Histogram',
      intervals: 'Intervals',
      events: 'Events',
      values: 'Values',
      ledger: 'Ledger',
      alarms: 'Alarms',
      'test-runs': 'Test runs',
    } satisfies Record<WantedKind, string>,
    about: {
      chart: 'Numbers over time, of one or several instances.',
      shares: 'Counters as parts of their sum.',
      states: 'Which value there was when.',
      gauge: 'A value between its limits: a dial for each.',
      histogram: 'How often which values occurred: one for each.',
      intervals: 'How regular samples are: the time from one to the next.',
      events: 'Samples one by one, as a list.',
      values: 'A sample of an instance, with its commands.',
      ledger: 'What came, what is missing and why; how long each hop takes.',
      alarms: 'What was worth a warning or an alarm.',
      'test-runs': 'Times with a name: started, stopped, looked at again, compared.',
    } satisfies Record<WantedKind, string>,
    filter: 'Filter by instance or metric',
    whole: 'all of it',
    nothing: 'Nothing is watched yet: pick an instance in the list first.',
    add: (count: number) => (count > 1 ? `Add ${count} panels` : 'Add'),
  },
};
