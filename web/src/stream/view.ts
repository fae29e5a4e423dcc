import type { Schema, Value } from '@oasis/wire';
import type { GapMark } from '../series/causes.ts';
import type { Target } from '../wire/target.ts';
import type { AlarmView } from './alarms.ts';
import type { ClockEstimate } from './clock.ts';
import type { PerSecond } from './counters.ts';
import type { DacCounts } from './dac_counts.ts';
import type { DoorName, LossReason } from './doors/door.ts';
import type { HistoryView } from './history.ts';
import type { LossView } from './ledger.ts';
import type { Position } from './position.ts';
import type { CommandRequest, InstanceEntry, NodeEntry } from './protocol.ts';
import type { Query, ViewResult } from './query.ts';

/** Messages between worker and page. All of them can be cloned structurally. */

export interface ConnectionView {
  readonly phase: 'connecting' | 'connected' | 'reconnecting';
  /** Why there is no connection. */
  readonly reason: LossReason;
  readonly code?: number;
  /** Start of this phase; browser clock, milliseconds. */
  readonly since: number;
  readonly attempts: number;
  readonly server: string;
  readonly epoch: string;
  readonly clock?: ClockEstimate;
  readonly door: DoorName;
}

export interface WatchStatus {
  readonly key: string;
  /** `absent`: the DAC does not know the instance (yet). */
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
  /** Undefined for what the sample lacks. */
  readonly values: readonly (Value | undefined)[];
  readonly rates: readonly PerSecond[];
}

export interface FlowView {
  readonly key: string;
  readonly rate: number | undefined;
  readonly history: HistoryView;
  /** Time of the oldest sample in memory or in the archive; node clock, milliseconds. */
  readonly oldest: number | undefined;
  /** Time of the newest sample received or in the archive. */
  readonly newest: number | undefined;
  readonly hops: HopTimes | undefined;
  /** Whether the page still receives what the DAC has kept: rate and age are not those of now. */
  readonly isCatchingUp: boolean;
  /** The time since the newest sample, of a probe that is silent, stopped or gone; browser clock. */
  readonly lasting?: GapMark;
}

/** Durations of the hops of the newest sample, clocks corrected; milliseconds. */
export interface HopTimes {
  /** From the sample's time to the time its node sent it, both by the node's clock. */
  readonly inNode: number;
  /** From the node into the DAC. */
  readonly toDac: number;
  /** From the DAC into this browser. */
  readonly toBrowser: number;
}

/** What the DAC counts of an instance. */
export interface CountsView extends DacCounts {
  readonly key: string;
}

/** Traffic received through the door. */
export interface TrafficView {
  readonly bytesPerSecond: number;
  readonly messagesPerSecond: number;
  readonly bytes: number;
}

export interface CommandView {
  readonly key: string;
  readonly request: CommandRequest;
  readonly status: 'pending' | 'done' | 'failed';
  readonly code?: string;
  readonly message?: string;
  readonly since: number;
}

/** The changes of the registry since the page was last told. */
export interface RegistryChange {
  /** Whether the page forgets everything before it applies the change. */
  readonly isWhole: boolean;
  readonly nodes: readonly NodeEntry[];
  readonly instances: readonly InstanceEntry[];
  readonly goneNodes: readonly string[];
  readonly goneInstances: readonly number[];
}

/** The changes since the last snapshot; unchanged parts are absent. */
export interface Snapshot {
  connection?: ConnectionView;
  registry?: RegistryChange;
  watches?: WatchStatus[];
  samples?: SampleView[];
  flows?: FlowView[];
  losses?: ({ readonly key: string } & LossView)[];
  counts?: CountsView[];
  commands?: CommandView[];
  views?: ViewResult[];
  alarms?: AlarmView[];
  traffic?: TrafficView;
  /** Whether the DAC has an archive, and so test runs and notes. */
  hasArchive?: boolean;
}

/** Where the page of another DAC can continue: an answer apart from all snapshots. */
export interface Positions {
  readonly positions: readonly Position[];
}

/** Returns the buffers that are transferred with a snapshot instead of copied. */
export function buffersOf(snapshot: Snapshot): ArrayBuffer[] {
  return (snapshot.views ?? []).flatMap(({ answer }) =>
    answer.kind === 'columns' ? [answer.buffer.buffer] : [],
  );
}

export type PageMessage =
  /** Begins; without a door, through the best one. */
  | { readonly op: 'start'; readonly page: string; readonly door: DoorName | undefined }
  /** Connects through another door. */
  | { readonly op: 'choose'; readonly door: DoorName | undefined }
  /** `before`: where the page of another DAC has left off. */
  | { readonly op: 'watch'; readonly target: Target; readonly before: Position | undefined }
  | { readonly op: 'unwatch'; readonly target: Target }
  /** Asks for {@link Positions}. */
  | { readonly op: 'positions' }
  | { readonly op: 'command'; readonly target: Target; readonly request: CommandRequest }
  /** Shows a query in a panel: snapshots answer it after each change, until it is hidden. */
  | { readonly op: 'show'; readonly id: number; readonly query: Query }
  | { readonly op: 'hide'; readonly id: number }
  /** The page has drawn the last snapshot and can receive the next one. Its buffers can be filled again. */
  | { readonly op: 'drawn'; readonly buffers: readonly ArrayBuffer[] };
