import { computed, signal } from '@preact/signals';
import type { InstanceEntry, NodeEntry } from '../stream/protocol.ts';
import { keyOf } from '../wire/target.ts';
import { now } from './now.ts';
import { connection } from './store.ts';
import { show, span } from './time.ts';

/** Offline nodes and instances, and the way to their last samples. */

const MINUTE = 60_000;
/** Milliseconds after which an offline node counts as gone. */
const MISSED_MS = 60 * MINUTE;
/** The part of the shown time after the newest sample that the page went to. */
const BEHIND = 0.05;

/** The DAC's clock, to the minute: lists need no update more often. */
const minute = computed(() => {
  const offset = connection.value.clock?.offset ?? 0;
  return Math.floor((now.value + offset) / MINUTE) * MINUTE;
});

/** Milliseconds since an offline node was heard, to the minute. */
export function awayFor({ since }: NodeEntry): number {
  return Math.max(0, minute.value - since);
}

/** Whether a node has been offline for so long that it counts as gone. */
export function isGone(node: NodeEntry): boolean {
  return node.state !== 'online' && awayFor(node) > MISSED_MS;
}

/** Whether the list of gone nodes is expanded; undefined until the user has chosen. */
export const isGoneListOpen = signal<boolean | undefined>(undefined);

/** Key of an instance that was opened while all shown instances were offline: the page goes to its newest sample once that is known. */
export const awaited = signal('');

/** Key of the shown instance whose node was heard last, if all shown instances are offline. */
export function newestOfAllAway(
  entries: readonly (InstanceEntry | undefined)[],
  nodes: readonly NodeEntry[],
): string | undefined {
  const known = entries.filter((entry) => entry !== undefined);
  if (known.some(({ state }) => state === 'online')) return undefined;
  const heard = new Map(nodes.map(({ name, since }) => [name, since]));
  const [newest] = known.sort((one, other) => (heard.get(other.node) ?? 0) - (heard.get(one.node) ?? 0));
  return newest && keyOf(newest);
}

/** Shows a range of the same length that ends with the sample of this time; milliseconds, browser clock. */
export function showNewest(taken: number): void {
  const to = taken + span.peek() * BEHIND;
  show(to - span.peek(), to);
}
