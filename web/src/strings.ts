import type { WantedKind } from './panels/build.ts';
import type { PanelKind, SeriesMode } from './panels/spec.ts';
import type { DoorName } from './stream/doors/door.ts';
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
    doors: {
      websocket: 'WebSocket oasis.v1',
      events: 'Server-sent events',
      wait: 'Long poll',
    } satisfies Record<DoorName, string>,
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
    event: 'pushed',
    disabled: 'disabled',
    watch: (instance: string) => `Watch ${instance}`,
    unwatch: (instance: string) => `Stop watching ${instance}`,
    noInstances: 'no instances',
    slowed: (hertz: string, wanted: string) => `${hertz} of ${wanted} Hz`,
    slowedTip: 'The node runs it slower than it was asked to, to keep its cost under its budget.',
    overhead: (percent: string) => `${percent} overhead`,
    overheadTip: (callbacks: string, budget: string | undefined) =>
      `Processor time of the node's threads, of one core; its probes were called for ${callbacks}.` +
      (budget === undefined ? '' : ` The budget is ${budget}.`),
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
      armed: 'armed',
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
      armed: 'The flight recorder waits for a trigger. What it keeps back is no loss.',
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
    configuredEvent: 'pushed',
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
    least: 'Least',
    greatest: 'Greatest',
    extentTip: 'In the time that is shown',
    copyTip: 'Right click: copy the value',
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
    close: (title: string) => `Close ${title}`,
    chart: (lines: string) => `Chart over time of ${lines}; values stand below it`,
    waiting: (instance: string) => `Waiting for ${instance}\u2026`,
  },

  histogram: {
    title: 'How often which values occurred',
    empty: 'No samples in the time shown.',
    samples: 'samples',
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
    points: ['N', 'E', 'S', 'W'],
    below: (bound: string) => `below ${bound}`,
    above: (bound: string) => `${bound} and more`,
  },

  events: {
    filter: 'Filter what happened',
    empty: 'Nothing in the time shown.',
  },

  alarms: {
    tab: (count: number) => `(${count}) OASIS`,
    sentence: (label: string, because: string) => `${label} is ${because}`,
    severity: { warn: 'Warning', alarm: 'Alarm' },
    empty: 'Nothing has been out of order since this page was opened.',
    acknowledge: 'Acknowledge',
    acknowledgeAll: 'Acknowledge all',
    clear: 'Remove what is over',
    loud: 'Sound on',
    quiet: 'Sound off',
    goThere: 'Show this moment',
    active: (duration: string) => `for ${duration}`,
    over: (duration: string) => `lasted ${duration}`,
  },

  ledger: {
    door: 'Door',
    bandwidth: 'Coming in',
    messages: 'Messages',
    total: 'In total',
    offset: 'DAC clock minus this one',
    roundTrip: 'Round trip to the DAC',
    columns: [
      ['Instance', 'What is watched'],
      ['Received', 'Samples that arrived here since the page began to watch'],
      ['Missing', 'Samples that were taken and did not arrive'],
      ['Why', 'What the missing ones are made of'],
      ['Rate', 'Measured, over the last second or eight samples'],
      ['Age', 'Time since the newest sample was taken, clocks corrected'],
      ['To DAC', 'From when the newest sample was taken to when it was in the DAC'],
      ['To page', 'From the DAC into this browser'],
      ['Node clock', 'DAC clock minus node clock'],
    ] as const,
    path: {
      taken: 'taken by the probe',
      received: 'received by the DAC',
      here: 'received here',
      tip: 'Probe and DAC: since the DAC was started, with what it knows of before. Here: since the page began to watch, and what it was sent of before',
      recorded: 'in the flight recorder, or kept back by it: no trigger fired since',
      /** By the names that the DAC gives them; others are shown as they are. */
      cause: new Map([
        ['ring_full', 'the ring of the probe was full'],
        ['invalid_row', 'its row did not fit the schema of the probe: see the log of the node'],
        ['spool_full', 'the spool of the node was full, or its file damaged'],
        ['network', 'sent as datagrams and lost on the way'],
        ['kept_back', 'the flight recorder kept them back: no trigger fired'],
        ['node_restart', 'the node ended before it could send them'],
        ['before_epoch', 'sent to an earlier life of the DAC'],
        ['unexplained', 'unexplained: please report this'],
        ['to_come', 'on the way to the DAC, or waiting in the node'],
        ['stored_before', 'stored by an earlier life of the DAC'],
        ['forgotten', 'in gaps so old that the DAC no longer lists their causes'],
      ]),
    },
  },

  dialog: { close: 'Close (Escape)' },

  toolbar: {
    title: 'Page',
    add: 'Add a panel (a)',
    alarms: (count: number) => (count === 0 ? 'Alarms (g)' : `Alarms (g): ${count} not acknowledged`),
    ledger: 'Ledger: what came, what is missing and why (b)',
    control: 'Commands for several instances (r)',
    note: 'Write a note at this moment (n)',
    picture: 'Save the active panel as a picture (p)',
    csv: 'Save what the active panel shows as CSV (c)',
    layout: 'Layouts (o)',
    theme: { dark: 'Light colours (t)', light: 'Dark colours (t)' },
    help: 'Keys (?)',
  },

  keys: {
    title: 'Keys and pointer',
    names: { ' ': 'Space', ArrowLeft: '\u2190', ArrowRight: '\u2192' } as Record<string, string>,
    pause: 'Pause, go on',
    live: 'Back to now',
    earlier: 'Earlier',
    later: 'Later',
    zoomIn: 'Show less time',
    zoomOut: 'Show more time',
    filter: 'Find an instance',
    add: 'Add a panel',
    nextPanel: 'Next panel',
    previousPanel: 'Panel before',
    maximize: 'Maximize the panel, and back',
    close: 'Close the panel',
    note: 'Write a note at this moment',
    alarms: 'Alarms',
    ledger: 'Ledger',
    picture: 'Save the panel as a picture',
    csv: 'Save the panel as CSV',
    control: 'Commands for several instances',
    share: 'Copy a link to what is shown',
    layout: 'Layouts',
    theme: 'Dark or light',
    help: 'This list',
    pointer: [
      'Drag across a chart to show that time. The wheel with Ctrl zooms, with Shift it moves.',
      'Click a name in a legend to show or hide its line, with Alt to show it alone; right click copies the value.',
      'Drag a tab to dock its panel somewhere else; drag the lines between panels to resize them.',
    ],
  },

  notes: {
    title: 'Notes',
    text: 'What happened here?',
    add: 'Add',
    remove: 'Remove',
  },

  layouts: {
    title: 'Layouts',
    copyLink: 'Copy a link to this layout',
    exportFile: 'Save it as a file',
    importFile: 'Open a file',
    reset: 'Start over',
    onServer: 'Saved in the DAC, for everybody',
    name: 'Name',
    save: 'Save this layout',
    none: 'None yet.',
    delete: 'Delete',
    deleteTip: (name: string) => `Delete ${name}`,
    notALayout: (file: string) => `${file} is not a layout of this page.`,
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
    } satisfies Record<WantedKind, string>,
    about: {
      chart: 'Numbers over time, of one or several instances.',
      shares: 'Counters as parts of their sum.',
      states: 'Which value there was when.',
      gauge: 'The newest value between its limits: a dial for each.',
      histogram: 'How often which values occurred: one for each.',
      intervals: 'How regular samples are: the time from one to the next.',
      events: 'Samples one by one, as a list.',
      values: 'The newest sample of an instance, with its commands.',
      ledger: 'What came, what is missing and why; how long each hop takes.',
      alarms: 'What was worth a warning or an alarm.',
    } satisfies Record<WantedKind, string>,
    filter: 'Filter by instance or metric',
    whole: 'all of it',
    nothing: 'Nothing is watched yet: pick an instance in the list first.',
    add: (count: number) => (count > 1 ? `Add ${count} panels` : 'Add'),
  },

  control: {
    title: 'Commands',
    rate: 'Rate in hertz',
    set: (count: number) => (count === 1 ? 'Set for 1' : `Set for ${count}`),
    names: { enable: 'Enable', disable: 'Disable', 'sample-now': 'Sample now' },
    journal: 'Who commanded what',
    entry: (command: string, numbers: string, instance: string, node: string) =>
      `${command}${numbers === '' ? '' : ` ${numbers} Hz`}: ${instance} on ${node}`,
  },

  legend: {
    tip: (doc: string) =>
      `${doc}\nClick: show or hide. Alt and click: this line alone. Right click: copy the value.`,
  },

  notice: {
    link: 'a link to what is shown',
    nothing: 'No panel on the screen has that to export.',
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
    trigger: 'Trigger',
    triggerTip: (before: string, after: string) =>
      `Send the ${before} before now and the ${after} after it: the probe has a flight recorder`,
    demandTip:
      'Those who read decide how often the probe is sampled: the highest rate that one of them asks for, within these',
    demandFrom: 'On demand, from',
    demandTo: 'to',
    demandOn: 'Follow',
    demandOff: 'Keep the rate',
    follows: (min: string, max: string, asked: string) =>
      `Follows demand, ${min} to ${max} Hz: ${asked} Hz asked for`,
    reversed: 'The first rate must not be above the second.',
    deadband: 'Deadband',
    deadbandMetric: 'Metric of the deadband',
    deadbandAny: 'any',
    deadbandSet: 'Set the deadband',
    deadbandTip:
      'A sample is kept when a metric has moved by more than its deadband; without one, when it has moved at all',
    deadbandWrong: 'A deadband of 0 or more, please, or nothing for any change.',
    outOfRange: 'A rate from 0.01 to 1000 Hz, please.',
    idle: '\u00a0',
    pending: (what: string) => `${what}\u2026`,
    done: (what: string) => `${what}: done`,
    failed: (what: string, why: string) => `${what}: ${why}`,
    sentence: (view: CommandView): string => {
      const what = strings.commands.what(view);
      if (view.status === 'pending') return strings.commands.pending(what);
      return view.status === 'done'
        ? strings.commands.done(what)
        : strings.commands.failed(what, strings.commands.why(view));
    },
    what: ({ wish }: CommandView): string => {
      const names: Record<Wish['command'], string> = {
        hertz: `Set ${'hertz' in wish ? wish.hertz : ''} Hz`,
        demand: 'Follow demand',
        'demand-off': 'Keep the rate',
        enable: 'Enable',
        disable: 'Disable',
        'sample-now': 'Sample now',
        trigger: 'Trigger',
        deadband: `Deadband of ${'metric' in wish ? wish.metric : ''}`,
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
