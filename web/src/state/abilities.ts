import type { CommandRequest, InstanceEntry } from '../stream/protocol.ts';

/** Returns whether an instance supports a command. */
export function can(entry: InstanceEntry, command: CommandRequest['command']): boolean {
  // A replayed instance takes no commands.
  if (entry.replay) return false;
  switch (command) {
    case 'hertz':
    case 'sample-now':
      // The application decides when to flush a pushed probe.
      return entry.hertz !== null;
    case 'demand':
      return entry.kind === 'periodic';
    case 'demand-off':
      return entry.demand !== null;
    case 'deadband':
      return entry.kind === 'on-change';
    case 'trigger':
      return entry.recorder !== null;
    case 'reset':
      return entry.settings.length > 0;
    case 'enable':
    case 'disable':
      return true;
  }
}
