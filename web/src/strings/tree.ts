/** The list of nodes and instances, and what stands where nothing is watched. */
export const treeStrings = {
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
    unknownRate: 'rate unknown',
    disabled: 'disabled',
    watch: (instance: string) => `Watch ${instance}`,
    unwatch: (instance: string) => `Stop watching ${instance}`,
    noInstances: 'no instances',
    heard: (ago: string) => `last heard ${ago} ago`,
    unknown: 'from the archive',
    offline: 'offline',
    replay: 'replay',
    gone: (nodes: number) => (nodes === 1 ? '1 node offline for long' : `${nodes} nodes offline for long`),
    goneTip: 'Nodes that were last heard more than an hour ago: their past can be looked at',
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
};
