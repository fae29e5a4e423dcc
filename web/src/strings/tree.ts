/** The list of nodes and instances, and the empty page. */
export const treeStrings = {
  tree: {
    title: 'Instances',
    filter: 'Name, type, metric or label',
    filterShort: 'Filter',
    fleet: 'Fleet',
    fleetTip: (nodes: number) => `Show all ${nodes} nodes at a glance: state, age, loss, alarms, metrics`,
    watched: (watched: number, all: number) => `${watched} of ${all} watched`,
    nothing: 'No node has registered yet.',
    nothingHint: 'Start a node on any machine that can reach this DAC:',
    nothingCommand: 'oasis node --dac HOST:PORT',
    noMatch: 'No instance matches the filter.',
    connecting: 'Waiting for the DAC\u2026',
    show: 'Show instances',
    hide: 'Hide instances',
    hertz: (hertz: string) => `${hertz} Hz`,
    event: 'Pushed',
    unknownRate: 'Rate unknown',
    watch: (instance: string) => `Watch ${instance}`,
    unwatch: (instance: string) => `Stop watching ${instance}`,
    noInstances: 'No instances',
    heard: (ago: string) => `Last seen ${ago} ago`,
    unknown: 'From the archive',
    /** The home of a relayed node, then the relays that its samples pass. */
    path: ([home, ...relays]: readonly string[]) =>
      relays.length === 0 ? `at ${home}` : `at ${home}, through ${relays.join(', ')}`,
    hop: (dac: string, measured: readonly [offset: number, trip: number] | undefined) =>
      measured === undefined
        ? `${dac}: clock not measured yet`
        : `${dac}: clock ${measured[0] < 0 ? '\u2212' : '+'}${Math.abs(measured[0]).toFixed(2)} ms, round trip ${measured[1].toFixed(2)} ms`,
    online: 'Online',
    gone: (nodes: number) =>
      nodes === 1 ? '1 node offline for over an hour' : `${nodes} nodes offline for over an hour`,
    goneTip: 'Nodes that have been offline for more than an hour; the archive keeps their history',
    ofRules: (count: number) => (count === 1 ? '1 instance of rules' : `${count} instances of rules`),
    ofRulesTip: 'What the DAC computes by rules: the results of alarms, and derived values',
    slowed: (hertz: string, wanted: string) => `${hertz} of ${wanted} Hz`,
    slowedTip: 'The node lowered the rate to keep its overhead within its budget.',
    overhead: (percent: string) => `${percent} overhead`,
    overheadTip: (callbacks: string, budget: string | undefined) =>
      `CPU time of the node's threads, as a share of one core; probe callbacks took ${callbacks}.` +
      (budget === undefined ? '' : ` The budget is ${budget}.`),
  },

  main: {
    label: 'Watched instances',
    emptyTitle: 'No instance is watched',
    emptyText: 'Select an instance in the list to see its live values here.',
    loadingTitle: 'Connecting to the DAC',
    noNodesTitle: 'Waiting for a node',
    noNodesText:
      'The DAC is running, but no node has registered yet. Run one of these where OASIS is installed:',
    commands: (host: string) => [
      { command: `oasis node --dac ${host}:7071`, about: 'Watch a host with ready-made probes' },
      { command: 'oasis init machine --lang python', about: 'Write a program that OASIS watches' },
      { command: 'oasis demo --listen 127.0.0.1:0', about: 'See a simulated plant on a page of its own' },
    ],
    copy: (command: string) => `Copy ${command}`,
  },
};
