import type { Schema, Value } from '@oasis/wire';
import type { AlarmView } from './alarms.ts';
import type { ClockEstimate } from './clock.ts';
import type { PerSecond } from './counters.ts';
import type { DoorName } from './doors/door.ts';
import type { HistoryView } from './history.ts';
import type { LossView } from './ledger.ts';
import type { Registry, Wish } from './protocol.ts';
import type { Query, ViewResult } from './query.ts';

/** Messages between worker and page. All of them survive a structured clone. */

export interface Target {
  readonly node: string;
  readonly instance: string;
}

/** One text for a target, fit for a map: names may hold anything, so they are quoted. */
export function keyOf(target: Target): string {
  return JSON.stringify([target.node, target.instance]);
}

export type LossReason = 'first' | 'unreachable' | 'closed' | 'silent' | 'shutdown' | 'protocol';

export interface ConnectionView {
  readonly phase: 'connecting' | 'connected' | 'reconnecting';
  /** Why there is no connection. */
  readonly reason: LossReason;
  readonly code?: number;
  /** Browser clock, milliseconds, when this phase began. */
  readonly since: number;
  readonly attempts: number;
  readonly server: string;
  readonly epoch: string;
  readonly clock?: ClockEstimate;
  readonly door: DoorName;
}

export interface WatchStatus {
  readonly key: string;
  /** `absent`: the DAC does not know it (yet). */
  readonly status: 'waiting' | 'absent' | 'live' | 'failed';
  readonly problem?: string;
  readonly schema?: Schema;
}

export interface SampleView {
  readonly key: string;
  readonly sequence: number;
  /** Node clock, milliseconds. */
  readonly time: number;
  readonly state: number;
  readonly values: readonly Value[];
  readonly rates: readonly PerSecond[];
}

export interface FlowView {
  readonly key: string;
  readonly rate: number | undefined;
  readonly history: HistoryView;
  /** Time of the oldest sample remembered, or in the archive; node clock, milliseconds. */
  readonly oldest: number | undefined;
  /** Time of the newest one, if any was received or is in the archive. */
  readonly newest: number | undefined;
  readonly hops: HopTimes | undefined;
}

/** How long the newest sample took from hop to hop, on a common clock; milliseconds. */
export interface HopTimes {
  /** From when it was taken to when its node sent it on: both by the node's clock. */
  readonly inNode: number;
  /** From the node into the DAC. */
  readonly toDac: number;
  /** From the DAC into this browser. */
  readonly toBrowser: number;
}

/** Traffic received through the door. */
export interface TrafficView {
  readonly bytesPerSecond: number;
  readonly messagesPerSecond: number;
  readonly bytes: number;
}

export interface CommandView {
  readonly key: string;
  readonly wish: Wish;
  readonly status: 'pending' | 'done' | 'failed';
  readonly code?: string;
  readonly message?: string;
  readonly since: number;
}

/** The changes since the last snapshot; unchanged parts are left out. */
export interface Snapshot {
  connection?: ConnectionView;
  registry?: Registry;
  watches?: WatchStatus[];
  samples?: SampleView[];
  flows?: FlowView[];
  losses?: ({ readonly key: string } & LossView)[];
  commands?: CommandView[];
  views?: ViewResult[];
  alarms?: AlarmView[];
  traffic?: TrafficView;
  /** The DAC keeps samples, and so test runs and notes. */
  hasArchive?: boolean;
}

/** Returns the buffers that are transferred with a snapshot instead of copied. */
export function buffersOf(snapshot: Snapshot): ArrayBuffer[] {
  return (snapshot.views ?? []).flatMap(({ answer }) =>
    answer.kind === 'columns' ? [answer.buffer.buffer] : [],
  );
}

export type PageMessage =
  | { readonly op: 'start'; readonly page: string }
  | { readonly op: 'watch'; readonly target: Target }
  | { readonly op: 'unwatch'; readonly target: Target }
  | { readonly op: 'command'; readonly target: Target; readonly wish: Wish }
  /** What a panel shows: answered in snapshots whenever it changes, until it is hidden. */
  | { readonly op: 'show'; readonly id: number; readonly query: Query }
  | { readonly op: 'hide'; readonly id: number }
  /** The page has drawn the last snapshot: the next one may come. Its buffers can be filled again. */
  | { readonly op: 'drawn'; readonly buffers: readonly ArrayBuffer[] };
