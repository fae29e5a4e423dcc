import type { CommandRequest } from '../stream/protocol.ts';
import type { CommandView } from '../stream/view.ts';

const words = {
  title: 'Commands',
  hertz: 'Rate in hertz',
  hertzUnit: 'Hz',
  set: 'Set',
  preset: (hertz: string) => `Sample at ${hertz} Hz`,
  enable: 'Enable',
  disable: 'Disable',
  sampleNow: 'Sample now',
  offline: 'The node is offline and takes no commands.',
  trigger: 'Trigger',
  triggerTip: (before: string, after: string) =>
    `Send the samples of the ${before} before now and the ${after} after it from the flight recorder`,
  demandTip: 'The probe is sampled at the highest rate that any reader requests, within these limits',
  demandFrom: 'On demand, from',
  demandTo: 'to',
  demandOn: 'Follow',
  demandOff: 'Keep the rate',
  follows: (min: string, max: string, asked: string) =>
    `Follows demand, ${min} to ${max} Hz: ${asked} Hz requested`,
  reversed: 'The first rate must not be above the second.',
  deadband: 'Deadband',
  deadbandMetric: 'Metric of the deadband',
  deadbandAny: 'any',
  deadbandSet: 'Set the deadband',
  deadbandTip:
    'A sample is taken if a metric has changed by more than its deadband; without a deadband, on any change',
  deadbandWrong: 'Enter a deadband of 0 or more, or nothing for any change.',
  outOfRange: 'Enter a rate from 0.01 to 1000 Hz.',
  idle: '\u00a0',
  pending: (what: string) => `${what}\u2026`,
  done: (what: string) => `${what}: done`,
  failed: (what: string, why: string) => `${what}: ${why}`,
  kept: {
    rate: 'Rate',
    enabled: 'Sampling',
    deadband: (metric: string) => `Deadband of ${metric}`,
    hertz: (hertz: string) => `${hertz} Hz`,
    demand: (min: string, max: string) => `${min} to ${max} Hz on demand`,
    on: 'on',
    off: 'off',
    anyChange: 'any change',
    unknown: 'unknown',
    local: 'this host',
    by: (who: string, ago: string) => `kept: set by ${who} ${ago} ago`,
    program: (value: string) => `from the program: ${value}`,
    thisRun: 'for this run only',
    waiting: (value: string, by: string) => `${value} ${by}, waits for the node`,
    replaced: (value: string, by: string) => `for this run; ${value} ${by}`,
    refused: (value: string, by: string, why: string) => `${value} ${by}; the node has refused it: ${why}`,
    keep: 'Keep for next runs',
    keepTip: 'The DAC sets it again whenever the node starts',
    keepAll: 'Keep for next runs',
    reset: 'Reset',
    resetTip: (program: string) => `Back to what the program has declared (${program}), and keep nothing`,
    resetAllTip: 'Back to what the programs have declared, and keep nothing',
    labels: 'Labels…',
    labelList: (labels: string) => `Labels: ${labels}`,
    labelsTitle: 'Labels',
    labelsHint:
      'Free pairs such as site=graz. They are shown on cards, found by filters, and group fleets. An instance has those of its node, too.',
    ofInstance: (instance: string) => `Of the instance ${instance}`,
    ofNode: (node: string) => `Of the node ${node}`,
    noLabels: 'No labels',
    pair: 'key=value',
    pairWrong: 'Enter a key and a value, such as site=graz.',
    add: 'Add',
    remove: (label: string) => `Remove ${label}`,
  },
  sentence: (view: CommandView): string => {
    const what = words.what(view);
    if (view.status === 'pending') return words.pending(what);
    return view.status === 'done' ? words.done(what) : words.failed(what, words.why(view));
  },
  what: ({ request }: CommandView): string => {
    const names: Record<CommandRequest['command'], string> = {
      hertz: `Set ${'hertz' in request ? request.hertz : ''} Hz`,
      demand: 'Follow demand',
      'demand-off': 'Keep the rate',
      enable: 'Enable',
      disable: 'Disable',
      'sample-now': 'Sample now',
      trigger: 'Trigger',
      deadband: `Deadband of ${'metric' in request ? request.metric : ''}`,
      reset: 'Reset',
    };
    const name = names[request.command];
    return request.keep ? `${name} and keep it` : name;
  },
  why: (view: CommandView): string => {
    const known: Record<string, string> = {
      connection_lost: 'not sent: no connection to the DAC',
      no_answer: 'the DAC did not answer',
      timeout: 'the node did not answer in 5 s',
      node_offline: 'the node is offline',
      node_moved: 'the node is connected to another DAC',
      unknown: 'the connection to the node ended: it may have executed the command',
      refused: 'the node refused',
      unknown_instance: 'the DAC does not know this instance',
      not_kept: 'not kept',
    };
    const why = known[view.code ?? ''] ?? view.code ?? 'failed';
    return view.message ? `${why} (${view.message})` : why;
  },
};

/** Commands and their results. */
export const commandStrings = {
  control: {
    title: 'Commands',
    nothing: 'No instance is watched: select one in the list first.',
    rate: 'Rate in hertz',
    set: (count: number) => (count === 1 ? 'Set for 1' : `Set for ${count}`),
    names: { enable: 'Enable', disable: 'Disable', 'sample-now': 'Sample now', trigger: 'Trigger' },
    sureToDisable: (count: number) => `Disable ${count} instances now`,
    counted: (what: string, count: number) => `${what} (${count})`,
    journal: 'Command history',
    journalTip: 'Since the DAC started. The audit log keeps commands longer.',
    journalEmpty: 'Nobody has given a command since the DAC started. The audit log keeps older ones.',
    withDemand: 'With rates that follow demand',
    entry: (command: string, numbers: string, instance: string, node: string) =>
      `${command}${numbers === '' ? '' : ` ${numbers} Hz`}: ${instance} on ${node}`,
  },

  commands: words,
};
