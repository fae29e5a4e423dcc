import type { InstanceEntry } from '../stream/protocol.ts';
import type { Target } from '../wire/target.ts';

/** The instances that are watched before the user has chosen any. */

const WANTED = ['Processor', 'Memory'];
/** Types of results and of derived instances (rules.md). Those of a rule that is gone stay online. */
export const OF_RULES = 'OASIS::Rules::';

export interface DefaultChoice {
  readonly targets: readonly Target[];
  /** Whether waiting longer cannot make it better. */
  readonly isComplete: boolean;
  /** Whether samples of a probe come. */
  readonly isLive: boolean;
}

/** What a choice needs of an instance. */
type Candidate = Pick<InstanceEntry, 'node' | 'instance' | 'type' | 'state'>;

/** Chooses a processor and a memory, or else the first instance of the best rank. */
export function defaultChoice(instances: readonly Candidate[]): DefaultChoice {
  const live = instances.filter((entry) => rankOf(entry) === 0);
  const wanted = WANTED.map((name) => live.find((entry) => entry.type.includes(name))).filter(
    (entry) => entry !== undefined,
  );
  const chosen = wanted.length > 0 ? wanted : firstOf(instances);
  return {
    targets: chosen.map(({ node, instance }) => ({ node, instance })),
    isComplete: wanted.length === WANTED.length,
    isLive: live.length > 0,
  };
}

/** Returns instances in the order in which they have registered, which no name changes. */
export function byRegistration(instances: readonly InstanceEntry[]): InstanceEntry[] {
  return [...instances].sort((one, other) => one.id - other.id);
}

function firstOf(instances: readonly Candidate[]): Candidate[] {
  const [first] = instances;
  if (!first) return [];
  return [instances.reduce((best, entry) => (rankOf(entry) < rankOf(best) ? entry : best), first)];
}

/** Probes before rules, and then those that are online. */
function rankOf({ type, state }: Candidate): number {
  return (type.startsWith(OF_RULES) ? 2 : 0) + (state === 'online' ? 0 : 1);
}
