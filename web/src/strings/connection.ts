import type { DoorName, LossReason } from '../stream/doors/door.ts';

const archiveTroubles = new Map([
  ['disk_full', 'the disk is full'],
  ['disk_error', 'the disk reports errors'],
  ['gone', 'its folder was removed, renamed or unmounted'],
  ['stopped', 'it was stopped (oasis handlers start archive)'],
]);

const archiveWarnings = new Map([
  ['size_before_age', 'The archive will evict samples early'],
  ['heavy_node', 'One node fills most of the archive'],
  ['awaits_copy', 'Old segments wait for their copy'],
  ['pins_at_limit', 'Pinned test runs reach their limit'],
]);

/** The connection to the DAC. */
export const connectionStrings = {
  connection: {
    connecting: 'Connecting',
    connected: 'Connected',
    reconnecting: 'Reconnecting',
    door: 'Door',
    doors: {
      websocket: 'WebSocket oasis.v1',
      events: 'Server-sent events',
      stream: 'Streaming',
      wait: 'Long poll',
      poll: 'Poll',
    } satisfies Record<DoorName, string>,
    chooseDoor: 'Connect through',
    bestDoor: 'The best door that opens',
    clock: 'Clock offset',
    clockTip: 'DAC clock minus browser clock, from the recent exchange with the shortest round trip',
    roundTrip: 'Round trip',
    server: 'DAC',
    unknown: '\u2013',
    archiveTrouble: (condition: string) =>
      `The archive stores nothing: ${archiveTroubles.get(condition) ?? condition}. Live data continues.`,
    archiveWarning: (code: string, more: number) => {
      const words = archiveWarnings.get(code) ?? 'The archive has a warning';
      return more > 0 ? `${words} (and ${more} more)` : words;
    },
    healthProblem: (reason: string, more: number) => (more > 0 ? `${reason} (and ${more} more)` : reason),
  },

  banner: {
    lost: (ago: string) => `Connection lost ${ago} ago.`,
    never: 'No connection yet.',
    promise: 'The values are the last ones received. Reconnecting automatically.',
    waiting: 'Reconnecting automatically.',
  },

  api: {
    late: 'The request to the DAC timed out.',
    unreachable: 'The DAC cannot be reached.',
  },

  lossReason: {
    first: 'The DAC has not answered yet.',
    unreachable: 'The DAC cannot be reached.',
    closed: 'The connection broke.',
    silent: 'The DAC stopped answering.',
    shutdown: 'The DAC shut down.',
    protocol: 'The DAC closed the connection.',
    door: 'Another door was chosen.',
  } satisfies Record<LossReason, string>,
};
