import type { PanelKind, SeriesMode } from './panels/spec.ts';
import type { Wish } from './stream/protocol.ts';
import type { BreakCause } from './stream/query.ts';
import type { CommandView, LossReason } from './stream/view.ts';

/** Every word on the page. */

const samples = (count: string, isOne: boolean) => (isOne ? `${count} sample` : `${count} samples`);

export const strings = {
  title: 'OASIS',
  subtitle: 'live instrumentation',

  connection: {
    connecting: 'Connecting',
    connected: 'Connected',
    reconnecting: 'Reconnecting',
    label: 'Connection',
    door: 'Door',
    doorName: 'WebSocket oasis.v1',
    clock: 'Clock offset',
    clockTip: 'DAC clock minus the clock of this browser, by the fastest of the last exchanges',
    roundTrip: 'Round trip',
    server: 'DAC',
    unknown: '\u2013',
  },

  banner: {
    lost: (ago: string) => `Connection lost ${ago} ago.`,
    never: 'No connection yet.',
    promise: 'Values are the last ones seen. Trying again by itself.',
    waiting: 'Trying again by itself.',
  },

  lossReason: {
    first: 'The DAC has not answered yet.',
    unreachable: 'The DAC cannot be reached.',
    closed: 'The DAC went away without a word.',
    silent: 'The DAC stopped answering.',
    shutdown: 'The DAC shut down.',
    protocol: 'The DAC closed the connection.',
  } satisfies Record<LossReason, string>,

  tree: {
    title: 'Instances',
    filter: 'Filter by node, name or type',
    filterShort: 'Filter',
    clear: 'Clear the filter',
    watched: (watched: number, all: number) => `${watched} of ${all} watched`,
    nothing: 'No node has registered yet.',
    nothingHint: 'Start one on any machine that reaches this DAC:',
    nothingCommand: 'oasis node --dac HOST:PORT',
    noMatch: 'Nothing matches the filter.',
    connecting: 'Waiting for the DAC\u2026',
    show: 'Show instances',
    hide: 'Hide instances',
    hertz: (hertz: string) => `${hertz} Hz`,
    event: 'event',
    disabled: 'disabled',
    watch: (instance: string) => `Watch ${instance}`,
    unwatch: (instance: string) => `Stop watching ${instance}`,
    noInstances: 'no instances',
  },

  nodeState: (state: string) => (state === 'online' ? 'online' : state === 'offline' ? 'offline' : state),

  main: {
    label: 'Watched instances',
    emptyTitle: 'Nothing is watched',
    emptyText: 'Pick an instance in the list and its values appear here, live.',
    loadingTitle: 'Connecting to the DAC',
    loadingText: 'Instances appear here as soon as it answers.',
    noNodesTitle: 'Waiting for a node',
    noNodesText: 'The DAC is there, but nothing has registered with it yet.',
  },

  card: {
    on: (node: string) => `on ${node}`,
    unregister: 'Unregister',
    unregisterTip: (instance: string) => `Unregister: stop watching ${instance}`,
    state: {
      lost: 'no connection',
      waiting: 'subscribing',
      absent: 'not registered',
      failed: 'failed',
      offline: 'node offline',
      disabled: 'disabled',
      empty: 'no sample yet',
      late: 'late',
      live: 'live',
    },
    stateTip: {
      lost: 'The page has no connection to the DAC.',
      waiting: 'Asking the DAC for this instance.',
      absent: 'The DAC does not know this instance now. Its values come back with it.',
      failed: 'The DAC refused, or sent something that cannot be read.',
      offline: 'The node that runs this instance is not connected to the DAC.',
      disabled: 'The instance is switched off and takes no samples.',
      empty: 'Subscribed, but there is no sample so far.',
      late: 'The newest sample is older than its rate promises.',
      live: 'Samples arrive as configured.',
    },
    probeState: (state: number) => `probe state ${state}`,
    worth: {
      warn: (because: string) => `Warning: ${because}`,
      alarm: (because: string) => `Alarm: ${because}`,
    },
    worthSign: '▲',
    rate: 'Rate',
    rateUnit: '/s',
    rateTip: 'Samples per second, measured over the last seconds',
    configured: (hertz: string) => `of ${hertz} Hz set`,
    configuredEvent: 'on event',
    age: 'Age',
    ageTip: 'Time since the newest sample was taken, corrected for the clocks on the way',
    taken: (time: string) => `taken ${time}`,
    sequence: 'Sequence',
    sequenceTip: 'Sequence number of the newest sample',
    received: (count: string) => `${count} received`,
    loss: 'Missing',
    missingShort: 'missing',
    lossTip: 'Samples that were taken and did not arrive here since you began to watch',
    unexplained: (count: string) => `${count} unexplained`,
    historySpan: '60 s',
    history: 'Samples in each of the last 60 seconds',
    historyBar: (time: string, count: string, missing: string) =>
      `${time}: ${count} received${missing === '0' ? '' : `, ${missing} missing`}`,
    noMetrics: 'This probe has no metrics: each sample is a sign of life.',
    noSample: 'No sample so far.',
    metrics: 'Metrics, and what happened',
    metric: 'Metric',
    value: 'Value',
    unit: 'Unit',
    perSecond: 'Per second',
    aboutColumn: 'About',
    rateCell: (rate: string) => `${rate} /s`,
    about: (scaled: string) => `\u2248 ${scaled}`,
    entries: (count: number) => (count === 1 ? '1 entry' : `${count} entries`),
    more: (count: number) => `and ${count} more`,
    none: 'none',
  },

  time: {
    title: 'Time',
    live: 'Live',
    paused: 'Paused',
    pauseTip: 'Pause (space)',
    liveTip: 'Back to now (space)',
    span: 'How much time is shown',
    earlier: 'Earlier (arrow left)',
    later: 'Later (arrow right)',
    slider: 'End of the time shown, between the oldest sample held and now',
    compare: 'Lay an earlier time over what is shown',
    compareNone: 'No overlay',
    compareWith: (ago: string) => `and ${ago} before`,
  },

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
    } satisfies Record<PanelKind, string>,
    mode: { lines: 'chart', shares: 'shares' } satisfies Record<SeriesMode, string>,
    intervals: 'intervals',
    waiting: (instance: string) => `Waiting for ${instance}\u2026`,
  },

  legend: {
    tip: (doc: string) =>
      `${doc}\nClick: show or hide. Alt and click: this line alone. Right click: copy the value.`,
  },

  notice: {
    copied: (what: string) => `Copied: ${what}`,
    notCopied: 'The browser does not let this page copy.',
  },

  commands: {
    title: 'Commands',
    hertz: 'Rate in hertz',
    hertzUnit: 'Hz',
    set: 'Set',
    preset: (hertz: string) => `Sample at ${hertz} Hz`,
    enable: 'Enable',
    disable: 'Disable',
    sampleNow: 'Sample now',
    demandTip:
      'Those who read decide how often the probe is sampled: the highest rate that one of them asks for, within these',
    demandFrom: 'On demand, from',
    demandTo: 'to',
    demandOn: 'Follow',
    demandOff: 'Keep the rate',
    follows: (min: string, max: string, asked: string) =>
      `Follows demand, ${min} to ${max} Hz: ${asked} Hz asked for`,
    reversed: 'The first rate must not be above the second.',
    outOfRange: 'A rate from 0.01 to 1000 Hz, please.',
    idle: '\u00a0',
    pending: (what: string) => `${what}\u2026`,
    done: (what: string) => `${what}: done`,
    failed: (what: string, why: string) => `${what}: ${why}`,
    what: ({ wish }: CommandView): string => {
      const names: Record<Wish['command'], string> = {
        hertz: `Set ${'hertz' in wish ? wish.hertz : ''} Hz`,
        demand: 'Follow demand',
        'demand-off': 'Keep the rate',
        enable: 'Enable',
        disable: 'Disable',
        'sample-now': 'Sample now',
      };
      return names[wish.command];
    },
    why: (view: CommandView): string => {
      const known: Record<string, string> = {
        connection_lost: 'not sent, there is no connection',
        no_answer: 'the DAC did not answer',
        timeout: 'the node did not answer in 5 s',
        node_offline: 'the node is offline',
        refused: 'the node refused',
        unknown_instance: 'the DAC does not know this instance',
      };
      const why = known[view.code ?? ''] ?? view.code ?? 'failed';
      return view.message ? `${why} (${view.message})` : why;
    },
  },

  gaps: {
    title: 'What happened',
    none: 'Nothing missing, nothing interrupted.',
    missing: (count: string, isOne: boolean) => `${samples(count, isOne)} missing`,
    numbers: (from: string, to: string) => (from === to ? `#${from}` : `#${from} to #${to}`),
    cause: {
      node_dropped: 'the node dropped them: its buffers were full',
      log_retention: 'the topic log no longer held them when this page came for them',
      epoch_changed: 'the DAC restarted',
      node_restart: 'the node restarted; its numbers begin again at 1',
      reconnected: 'connection lost and back',
      unexplained: 'unexplained: please report this',
      disabled: 'the probe was switched off',
      node_offline: 'the node was offline',
      silent: 'nothing was sampled, and nothing is missing',
    } satisfies Record<BreakCause, string>,
    note: (duration: string, missing: string, cause: string) =>
      [duration, missing, cause].filter(Boolean).join(' \u00b7 '),
    duration: (duration: string) => `after ${duration}`,
  },
};
