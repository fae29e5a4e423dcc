/** What a fleet panel asks the worker for, and the answer. */

import type { Labels } from '../wire/settings.ts';

/** Which instances, by patterns with `*`, and which of their metrics. */
export interface FleetSelection {
  readonly nodes: string;
  readonly instances: string;
  readonly types: string;
  /** Pairs that all must match, such as `site=graz, rack=*`; absent for any. */
  readonly labels?: string;
  /** At most {@link MAX_METRICS} paths, such as `load` or `motor.speed`. */
  readonly metrics: readonly string[];
  /** Seconds between two rounds. */
  readonly period: number;
}

/** A metric as it is chosen for a column. */
export interface FleetMetricChoice {
  readonly path: string;
  /** In UCUM, empty without one; undefined: that of the most common type. */
  readonly unit?: string;
}

/** A column of metrics: a path of the selection, of some types only. */
export interface FleetMetricColumn {
  /** Place in {@link FleetSelection.metrics}. */
  readonly metric: number;
  /** Hashes of the schemas whose values belong to the column; undefined for all. */
  readonly schemas?: readonly string[];
}

/** The messages about fleets. */
export type FleetRequest = ({ op: 'fleet' } & FleetSelection) | { op: 'end-fleet'; fleet: number };

export const MAX_METRICS = 3;
/** Seconds between two rounds that the page offers. */
export const PERIODS: readonly number[] = [0.25, 0.5, 1, 2, 5, 10];

export const groupings = ['none', 'node', 'type', 'prefix', 'pattern', 'label'] as const;
export type GroupingName = (typeof groupings)[number];

/** How rows are grouped; `text`: the delimiter after a prefix, a pattern whose first `*` is the group, or the key of a label. */
export interface Grouping {
  readonly by: GroupingName;
  readonly text: string;
}

export const columns = [
  'name',
  'node',
  'health',
  'age',
  'rate',
  'missing',
  'alarms',
  'metric-0',
  'metric-1',
  'metric-2',
] as const;
export type FleetColumn = (typeof columns)[number];

export interface FleetOrder {
  readonly by: FleetColumn;
  readonly isDown: boolean;
}

/** What the list has, and the part of it that is visible. */
export interface FleetLook {
  /** One row for each node, or for each instance. */
  readonly rows: 'nodes' | 'instances';
  readonly order: FleetOrder;
  readonly group: Grouping;
  readonly metrics: readonly FleetMetricColumn[];
  /** Groups that are folded. */
  readonly folded: readonly string[];
  /** Only rows whose names contain all these words, in lower case. */
  readonly words: readonly string[];
  readonly first: number;
  readonly count: number;
}

/** States of an instance or a node, worst first; named as those of cards. */
export const healths = ['lost', 'offline', 'stopped', 'empty', 'disabled', 'live'] as const;
export type Health = (typeof healths)[number];

export type FleetValue = number | string | boolean | null;

/** A row of the list. */
export interface FleetRow {
  readonly kind: 'row';
  /** Topic number; of a node, that of its first instance. */
  readonly id: number;
  readonly node: string;
  /** Undefined for a node. */
  readonly instance: string | undefined;
  readonly type: string;
  /** Its labels, those of its node included; of a node, those that all its instances have. */
  readonly labels: Labels;
  /** Instances in it. */
  readonly count: number;
  readonly health: Health;
  /** Milliseconds since the newest batch arrived; undefined before the first. */
  readonly age: number | undefined;
  /** Samples a second; of a node, the sum of the rates that are known. Null for none. */
  readonly hertz: number | null;
  /** Missing samples with and without a known cause. */
  readonly explained: number;
  readonly unexplained: number;
  /** Standing alarms: low, medium, high, critical. */
  readonly alarms: readonly number[];
  readonly values: readonly FleetValue[];
  /** The instance that each value is of. */
  readonly sources: readonly (string | undefined)[];
  /** The hash of the schema that each value is of. */
  readonly schemas: readonly (string | undefined)[];
}

export interface FleetGroup {
  readonly kind: 'group';
  readonly name: string;
  readonly count: number;
  readonly isOpen: boolean;
  /** Rows by state, in the order of {@link healths}. */
  readonly healths: readonly number[];
}

export type FleetLine = FleetRow | FleetGroup;

/** A type in the fleet, most common first. */
export interface FleetType {
  readonly name: string;
  readonly version: string;
  /** SHA-256 of its schema. */
  readonly schema: string;
  readonly count: number;
}

/** Points of a sparkline: one for each of the last rounds. */
export const POINTS = 60;

export type FleetStatus =
  | { readonly state: 'waiting' | 'ready' | 'unsupported' }
  | { readonly state: 'refused'; readonly problem: string };

export interface FleetAnswer {
  readonly kind: 'fleet';
  readonly status: FleetStatus;
  /** Instances in the fleet. */
  readonly members: number;
  readonly nodes: number;
  /** Rows that pass the filter. */
  readonly matched: number;
  /** Of these, in the order of {@link healths}. */
  readonly healths: readonly number[];
  /** Lines of the list, groups included. */
  readonly length: number;
  /** Number of the first line here. */
  readonly first: number;
  readonly lines: readonly FleetLine[];
  /** {@link POINTS} values for each metric of each line, oldest first; NaN for none. */
  readonly sparks: Float64Array;
  readonly types: readonly FleetType[];
  /** Rounds that came combined with later ones, because they were too long for the connection. */
  readonly combined: number;
}

/** The answer before the code for fleets is loaded. */
export const UNREAD: FleetAnswer = {
  kind: 'fleet',
  status: { state: 'waiting' },
  members: 0,
  nodes: 0,
  matched: 0,
  healths: healths.map(() => 0),
  length: 0,
  first: 0,
  lines: [],
  sparks: new Float64Array(0),
  types: [],
  combined: 0,
};
