import type { InstanceEntry } from '../stream/protocol.ts';
import type { Target } from '../stream/view.ts';

/** The instances that are watched before the user has chosen any. */

const WANTED = ['Processor', 'Memory'];

/** Chooses a processor and a memory, or else the first instances. */
export function defaultChoice(instances: readonly InstanceEntry[]): Target[] {
  const online = instances.filter((entry) => entry.state === 'online');
  const found = WANTED.map((name) => online.find((entry) => entry.type.includes(name)));
  const chosen = found.filter((entry) => entry !== undefined);
  return (chosen.length > 0 ? chosen : online.slice(0, 1)).map(({ node, instance }) => ({ node, instance }));
}

/** Whether waiting a moment longer cannot make the default better. */
export function isComplete(chosen: readonly Target[]): boolean {
  return chosen.length === WANTED.length;
}
