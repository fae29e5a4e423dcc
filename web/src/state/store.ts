import { batch, computed, type Signal, signal } from '@preact/signals';
import { alarmSource } from '../alarms/book.ts';
import { raise } from '../alarms/tab_alarms.ts';
import type { LossView } from '../stream/ledger.ts';
import type { InstanceEntry, NodeEntry } from '../stream/protocol.ts';
import type { ViewResult } from '../stream/query.ts';
import type {
  CommandView,
  ConnectionView,
  CountsView,
  FlowView,
  SampleView,
  Snapshot,
  TrafficView,
  WatchStatus,
} from '../stream/view.ts';
import { keyOf, type Target } from '../wire/target.ts';
import { shownTargets } from './panels.ts';
import { applyRegistry, entryOf, nodeOf, registry } from './registry.ts';

/** The state of the page, one signal for each part that changes on its own. */

export const connection = signal<ConnectionView>({
  phase: 'connecting',
  reason: 'first',
  since: 0,
  attempts: 0,
  door: 'websocket',
  server: '',
  epoch: '',
});
/** Changes about every second, with each measurement of the clock offset. */
export const isConnected = computed(() => connection.value.phase === 'connected');
export const filter = signal('');
/** Whether the DAC has an archive. */
export const hasArchive = signal(false);
export const traffic = signal<TrafficView>({ bytesPerSecond: 0, messagesPerSecond: 0, bytes: 0 });

/** Watched instances: those that a panel shows. */
export const chosenKeys = computed(() => new Set(shownTargets.value.map(keyOf)));

export interface InstanceCells {
  readonly status: Signal<WatchStatus | undefined>;
  readonly sample: Signal<SampleView | undefined>;
  readonly flow: Signal<FlowView | undefined>;
  readonly loss: Signal<LossView | undefined>;
  /** What the DAC counts; the numbers of the last DAC while there is no connection. */
  readonly counts: Signal<CountsView | undefined>;
  /** The last command given, whatever its kind. */
  readonly command: Signal<CommandView | undefined>;
  readonly entry: Signal<InstanceEntry | undefined>;
  readonly node: Signal<NodeEntry | undefined>;
}

const cells = new Map<string, InstanceCells>();

export function cellsOf(target: Target): InstanceCells {
  const key = keyOf(target);
  let found = cells.get(key);
  if (!found) {
    found = {
      status: signal(undefined),
      sample: signal(undefined),
      flow: signal(undefined),
      loss: signal(undefined),
      counts: signal(undefined),
      command: signal(undefined),
      entry: computed(() => entryOf(target)),
      node: computed(() => nodeOf(target.node)),
    };
    cells.set(key, found);
  }
  return found;
}

export function forget(target: Target): void {
  cells.delete(keyOf(target));
}

/** Time of the oldest sample that any panel could show; milliseconds, browser clock (near enough for a slider). */
export const oldestTime = computed(() =>
  shownTargets.value.reduce(
    (oldest, target) => Math.min(oldest, cellsOf(target).flow.value?.oldest ?? Number.POSITIVE_INFINITY),
    Number.POSITIVE_INFINITY,
  ),
);

const viewers = new Map<number, (result: ViewResult) => void>();

/** Calls back with each answer to a view. */
export function onView(id: number, draw: (result: ViewResult) => void): void {
  viewers.set(id, draw);
}

export function offView(id: number): void {
  viewers.delete(id);
}

export function apply(snapshot: Snapshot): void {
  batch(() => {
    if (snapshot.connection) connection.value = snapshot.connection;
    if (snapshot.registry) applyRegistry(snapshot.registry);
    // An instance that is no longer watched has no cells.
    for (const status of snapshot.watches ?? []) set(status.key, 'status', status);
    for (const sample of snapshot.samples ?? []) set(sample.key, 'sample', sample);
    for (const flow of snapshot.flows ?? []) set(flow.key, 'flow', flow);
    for (const loss of snapshot.losses ?? []) set(loss.key, 'loss', loss);
    for (const counts of snapshot.counts ?? []) set(counts.key, 'counts', counts);
    for (const command of snapshot.commands ?? []) set(command.key, 'command', command);
    if (snapshot.alarms && alarmSource.peek().kind !== 'server') raise(snapshot.alarms);
    if (snapshot.hasArchive !== undefined) hasArchive.value = snapshot.hasArchive;
    if (snapshot.traffic) traffic.value = snapshot.traffic;
    for (const view of snapshot.views ?? []) viewers.get(view.id)?.(view);
  });
}

function set<K extends 'status' | 'sample' | 'flow' | 'loss' | 'counts' | 'command'>(
  key: string,
  part: K,
  value: InstanceCells[K]['value'],
): void {
  const found = cells.get(key);
  if (found) (found[part] as Signal<InstanceCells[K]['value']>).value = value;
}

export type { Target };
export { nodeOf, registry };
