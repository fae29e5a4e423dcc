import { computed, signal } from '@preact/signals';
import type { InstanceEntry, NodeEntry } from '../stream/protocol.ts';
import { keyOf } from '../stream/view.ts';
import { now } from './now.ts';
import { connection } from './store.ts';
import { show, span } from './time.ts';

/** Nodes and instances that are not there, and the way to the last that was heard of them. */

const MINUTE = 60_000;
/** How long a node is missed before it is one of those that are gone. */
const MISSED_MS = 60 * MINUTE;
/** The part of the shown time after the newest sample that the page went to. */
const BEHIND = 0.05;

/** The DAC's clock, to the minute: lists need not be made anew more often. */
const minute = computed(() => {
  const offset = connection.value.clock?.offset ?? 0;
  return Math.floor((now.value + offset) / MINUTE) * MINUTE;
});

/** Milliseconds since an offline node was heard, to the minute. */
export function awayFor({ since }: NodeEntry): number {
  return Math.max(0, minute.value - since);
}

/** Whether a node has been offline for so long that nobody waits for it. */
export function isGone(node: NodeEntry): boolean {
  return node.state !== 'online' && awayFor(node) > MISSED_MS;
}

/** Whether the list of those that are gone is folded out; undefined until somebody has said so. */
export const isGoneListOpen = signal<boolean | undefined>(undefined);

/** Key of an instance that was opened while nothing that is shown was online: its newest sample is shown as soon as it is known. */
export const awaited = signal('');

/** Key of the instance, of those that are shown, whose node was heard last, if all of them are offline. */
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

/** Shows as long a time as now, up to a sample that was taken then; milliseconds by the browser's clock. */
export function showNewest(taken: number): void {
  const to = taken + span.peek() * BEHIND;
  show(to - span.peek(), to);
}
