/** The messages of `oasis.v1` (docs/reference/websocket.md) and their parser. */

import { type DemandRange, lossCause, parseDemandRange } from '@oasis/wire';
import type { FleetRequest } from '../fleet/query.ts';
import { type Fields, isFields, listOf, valuesOf } from '../wire/fields.ts';
import { type Labels, parseLabels, parseSettings, type SettingEntry } from '../wire/settings.ts';
import type { StatisticsRow } from './dac_counts.ts';
import type { Gap } from './ledger.ts';

/** What the registry's changes say of a node. */
export interface NodeFacts {
  readonly name: string;
  readonly host: string;
  readonly software: string;
  readonly online: boolean;
  /** Time of the last change of state, milliseconds by the DAC's clock. */
  readonly since: number;
  readonly run: string;
  readonly replay: boolean;
  readonly path: readonly Hop[];
  readonly labels: Labels;
}

/** A DAC that samples pass before this one. */
export interface Hop {
  readonly dac: string;
  /** The life of its topic logs; its ledgers count since then. */
  readonly epoch: string;
  /** Clock of the next DAC minus its clock, and the round trip that it was taken from. */
  readonly clock_offset_ns: number | null;
  readonly round_trip_ns: number | null;
}

/** What changes of a node while it is connected. */
export interface NodeStatistics {
  /** DAC clock minus node clock, and the round trip that it was taken from. */
  readonly clock_offset_ns: number | null;
  readonly round_trip_ns: number | null;
  readonly overhead: OverheadEntry | null;
}

export interface NodeEntry extends NodeStatistics {
  readonly name: string;
  readonly host: string;
  readonly software: string;
  readonly state: string;
  /** Time of the last change of state, milliseconds by the DAC's clock. */
  readonly since: number;
  readonly run: string;
  /** Whether its samples are replayed from a recording. */
  readonly replay: boolean;
  /** The DACs that its samples pass before this one, its home first; empty if it is connected here. */
  readonly path: readonly Hop[];
  readonly labels: Labels;
}

/** The overhead of a node; shares are of one core. */
export interface OverheadEntry {
  readonly cpu: number;
  readonly callbacks: number;
  readonly budget: number | null;
  /** Lowered rates in hertz, by instance. */
  readonly lowered: Readonly<Record<string, number>>;
}

/** What the registry's changes say of an instance. */
export type InstanceFacts = Omit<InstanceEntry, 'state' | 'pace' | 'replay'>;

export interface InstanceEntry {
  readonly id: number;
  readonly node: string;
  readonly instance: string;
  readonly type: string;
  readonly uuid: string;
  readonly version: string;
  readonly state: string;
  readonly enabled: boolean;
  /** The requested rate. */
  readonly hertz: number | null;
  /** The expected rate, if any: the node may have lowered it, or keep samples back. */
  readonly pace: number | null;
  readonly demand: DemandEntry | null;
  readonly kind: string;
  readonly recorder: RecorderEntry | null;
  /** Whether its samples are replayed from a recording. */
  readonly replay: boolean;
  readonly run: string;
  /** Its own, without those of its node. */
  readonly labels: Labels;
  /** Those that are kept, or differ from what the program has declared. */
  readonly settings: readonly SettingEntry[];
}

/** The span that a flight recorder sends around a trigger. */
export interface RecorderEntry {
  readonly before_s: number;
  readonly after_s: number;
}

/** A rate that follows the demand of readers, in hertz. */
export interface DemandEntry extends DemandRange {
  /** The rate that readers request now. */
  readonly asked: number;
}

/** Changes of the registry, which continue those before. */
export interface RegistryDelta {
  /** The revision that they continue; 0 begins a new picture. */
  readonly from: number;
  readonly position: string;
  readonly more: boolean;
  readonly nodes: readonly NodeFacts[];
  readonly instances: readonly InstanceFacts[];
  readonly goneNodes: readonly string[];
  readonly goneInstances: readonly number[];
}

export interface Registry {
  readonly nodes: readonly NodeEntry[];
  readonly instances: readonly InstanceEntry[];
}

/** A command for an instance. */
export type CommandRequest = WithoutKeep & {
  /** Whether what it sets is kept for the next runs of the node. */
  readonly keep?: boolean;
};

type WithoutKeep =
  | { readonly command: 'hertz'; readonly hertz: number }
  | { readonly command: 'demand'; readonly min: number; readonly max: number }
  | { readonly command: 'deadband'; readonly metric: string; readonly deadband?: number }
  /** Without a setting: all of them. */
  | { readonly command: 'reset'; readonly setting?: string }
  | { readonly command: 'demand-off' | 'enable' | 'disable' | 'sample-now' | 'trigger' };

/** The only kind whose silence is a fault: the others are silent if nothing happens. */
export const PERIODIC = 'periodic';
/** The application takes the samples, regularly or not. */
export const PUSHED = 'pushed';

/** Returns whether a periodic probe has an unknown rate: the archive stores no rates, so imported and replayed instances have none. */
export function isRateUnknown({ kind, hertz, recorder }: InstanceEntry): boolean {
  return kind === PERIODIC && hertz === null && recorder === null;
}

/** Returns whether a rate is valid. */
export function isRate(hertz: number): boolean {
  return hertz >= 0.01 && hertz <= 1000;
}

export type ClientMessage =
  | {
      op: 'watch';
      id: number;
      deltas: true;
      statistics: true;
      causes: true;
      schemas: 'once';
      resume?: string;
    }
  | {
      op: 'subscribe';
      id: number;
      node: string;
      instance: string;
      resume?: string;
      from?: 'earliest';
      /** Only so many of the newest samples of the past. */
      last?: number;
      overflow?: 'latest';
      ahead: true;
      gaps: true;
    }
  | { op: 'unsubscribe'; id: number; topic: number }
  | ({ op: 'command'; id: number; node: string; instance: string } & CommandRequest)
  | ({ id: number } & FleetRequest)
  | { op: 'ping'; id: number; client_time: number };

export type ServerMessage =
  | { op: 'welcome'; server: string; epoch: string }
  | { op: 'registry_delta'; delta: RegistryDelta }
  | {
      op: 'statistics';
      nodes: readonly (readonly [string, NodeStatistics])[];
      instances: readonly StatisticsRow[];
    }
  | { op: 'schema'; hash: string; schema: unknown }
  | {
      op: 'subscribed';
      id: number;
      topic: number;
      epoch: string;
      offset: number;
      entry: InstanceEntry;
      /** Undefined if it has come in a message of its own. */
      schema: unknown;
      schemaHash: string;
      /** What the DAC has counted by now; undefined from an earlier DAC. */
      counts: StatisticsRow | undefined;
    }
  | { op: 'gap'; topic: number; cause: string; count: number | undefined }
  | { op: 'gaps_before'; topic: number; gaps: readonly Gap[] }
  | { op: 'epoch'; topic: number; epoch: string; offset: number }
  | { op: 'type_changed'; topic: number; schema: unknown }
  /** Without an id if the page did not request it. */
  | { op: 'unsubscribed'; id: number | undefined; topic: number }
  | { op: 'result'; id: number; hertz: number | undefined; enabled: boolean | undefined }
  | { op: 'pong'; id: number; dacTime: number }
  | { op: 'fleet'; id: number; fleet: number }
  | { op: 'fleet_rows'; fleet: number; fields: Fields }
  | { op: 'error'; id: number | undefined; code: string; message: string };

/** Parses a message from the DAC; undefined for unknown messages, which a newer DAC may send. */
export function parseServerMessage(data: string): ServerMessage | undefined {
  let fields: unknown;
  try {
    fields = JSON.parse(data);
  } catch {
    return undefined;
  }
  if (!isFields(fields)) return undefined;
  switch (fields.op) {
    case 'welcome':
      return { op: 'welcome', server: text(fields.server), epoch: text(fields.epoch) };
    case 'registry_delta':
      return { op: 'registry_delta', delta: parseDelta(fields) };
    case 'statistics':
      return {
        op: 'statistics',
        nodes: listOf(fields.nodes).map((node) => [text(node.name), parseStatistics(node)] as const),
        instances: valuesOf(fields.instances).flatMap((row) => parseCounts(row) ?? []),
      };
    case 'schema':
      return { op: 'schema', hash: text(fields.sha256), schema: fields.schema };
    case 'subscribed':
      return parseSubscribed(fields);
    case 'gap':
      return {
        op: 'gap',
        topic: number(fields.topic),
        cause: text(fields.cause),
        count: optionalNumber(fields.count),
      };
    case 'gaps_before':
      return { op: 'gaps_before', topic: number(fields.topic), gaps: parseGaps(fields.gaps) };
    case 'unsubscribed':
      return { op: 'unsubscribed', id: optionalNumber(fields.id), topic: number(fields.topic) };
    case 'epoch':
      return {
        op: 'epoch',
        topic: number(fields.topic),
        epoch: text(fields.epoch),
        offset: number(fields.offset),
      };
    case 'type_changed':
      return { op: 'type_changed', topic: number(fields.topic), schema: fields.schema };
    case 'result':
      return {
        op: 'result',
        id: number(fields.id),
        hertz: optionalNumber(fields.hertz),
        enabled: typeof fields.enabled === 'boolean' ? fields.enabled : undefined,
      };
    case 'pong':
      return { op: 'pong', id: number(fields.id), dacTime: number(fields.dac_time) };
    case 'fleet':
      return { op: 'fleet', id: number(fields.id), fleet: number(fields.fleet) };
    case 'fleet_rows':
      return { op: 'fleet_rows', fleet: number(fields.fleet), fields };
    case 'error':
      return {
        op: 'error',
        id: optionalNumber(fields.id),
        code: text(fields.code),
        message: text(fields.message),
      };
    default:
      return undefined;
  }
}

function parseSubscribed(fields: Fields): ServerMessage | undefined {
  if (!isFields(fields.instance)) return undefined;
  const { id, ledger } = fields.instance;
  return {
    op: 'subscribed',
    id: number(fields.id),
    topic: number(fields.topic),
    epoch: text(fields.epoch),
    offset: number(fields.offset),
    entry: parseInstance(fields.instance),
    schema: fields.instance.schema,
    schemaHash: text(fields.instance.schema_sha256),
    counts: isFields(ledger)
      ? parseCounts([id, ledger.received, ledger.missing, 0, ledger.causes])
      : undefined,
  };
}

function parseDelta(fields: Fields): RegistryDelta {
  const types = listOf(fields.types);
  const removed = isFields(fields.removed) ? fields.removed : {};
  return {
    from: number(fields.from),
    position: text(fields.position),
    more: fields.more === true,
    nodes: listOf(fields.nodes).map(parseNode),
    instances: listOf(fields.instances).map((instance) => {
      return parseFacts(instance, types[number(instance.type)] ?? {});
    }),
    goneNodes: valuesOf(removed.nodes).map(text),
    goneInstances: valuesOf(removed.instances).map(number),
  };
}

function parseNode(fields: Fields): NodeFacts {
  return {
    name: text(fields.name),
    host: text(fields.host),
    software: text(fields.software),
    online: fields.online === true,
    since: number(fields.since) / 1e6,
    run: text(fields.run),
    replay: fields.replay === true,
    path: listOf(fields.path).map(parseHop),
    labels: parseLabels(fields.labels),
  };
}

function parseHop(fields: Fields): Hop {
  return {
    dac: text(fields.dac),
    epoch: text(fields.epoch),
    clock_offset_ns: optionalNumber(fields.clock_offset_ns) ?? null,
    round_trip_ns: optionalNumber(fields.round_trip_ns) ?? null,
  };
}

function parseStatistics(fields: Fields): NodeStatistics {
  return {
    clock_offset_ns: optionalNumber(fields.clock_offset_ns) ?? null,
    round_trip_ns: optionalNumber(fields.round_trip_ns) ?? null,
    overhead: parseOverhead(fields.overhead),
  };
}

/** `[id, received, missing, arrived, causes]`; without causes from an earlier DAC, or if nothing is missing. */
function parseCounts(row: unknown): StatisticsRow | undefined {
  const [id, received, missing, , causes] = valuesOf(row);
  if (typeof id !== 'number' || typeof received !== 'number' || typeof missing !== 'number') return undefined;
  const known = isFields(causes) ? Object.entries(causes) : [];
  const counted = known.filter((entry): entry is [string, number] => typeof entry[1] === 'number');
  return { id, received, missing, causes: Object.fromEntries(counted) };
}

/** Gaps before a batch, as the ledger has them. Those that make no sense are left out. */
export function parseGaps(gaps: unknown): Gap[] {
  const parsed = listOf(gaps).map((gap) => ({
    from: number(gap.from_sequence),
    to: number(gap.to_sequence),
    count: number(gap.count),
    cause: lossCause(text(gap.cause))?.cause ?? text(gap.cause),
  }));
  return parsed.filter(({ from, to, count }) => from >= 0 && count > 0 && count <= to - from + 1);
}

function parseOverhead(fields: unknown): OverheadEntry | null {
  if (!isFields(fields)) return null;
  const lowered = isFields(fields.lowered) ? fields.lowered : {};
  return {
    cpu: number(fields.cpu),
    callbacks: number(fields.callbacks),
    budget: optionalNumber(fields.budget) ?? null,
    lowered: Object.fromEntries(Object.entries(lowered).map(([name, hertz]) => [name, number(hertz)])),
  };
}

function parseInstance(fields: Fields): InstanceEntry {
  const facts = parseFacts(fields, fields);
  return {
    ...facts,
    state: text(fields.state),
    pace: facts.recorder ? null : facts.hertz,
    replay: fields.replay === true,
  };
}

/** `type`: what has name, UUID and version of the probe type. */
function parseFacts(fields: Fields, type: Fields): InstanceFacts {
  return {
    id: number(fields.id),
    node: text(fields.node),
    instance: text(fields.instance),
    type: text(type.type),
    uuid: text(type.uuid),
    version: text(type.version),
    enabled: fields.enabled !== false,
    hertz: optionalNumber(fields.hertz) ?? null,
    demand: parseDemand(fields.demand),
    kind: text(fields.kind),
    recorder: parseRecorder(fields.recorder),
    run: text(fields.run),
    labels: parseLabels(fields.labels),
    settings: parseSettings(fields.settings),
  };
}

function parseRecorder(fields: unknown): RecorderEntry | null {
  if (!isFields(fields)) return null;
  return { before_s: number(fields.before_s), after_s: number(fields.after_s) };
}

function parseDemand(fields: unknown): DemandEntry | null {
  const range = parseDemandRange(fields);
  if (!range || !isFields(fields)) return null;
  return { ...range, asked: optionalNumber(fields.asked) ?? range.min };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : -1;
}

function optionalNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
