/** The messages of `oasis.v1` (docs/reference/websocket.md) and their parser. */

import { type DemandRange, parseDemandRange } from '@oasis/wire';
import { type Fields, isFields, listOf } from '../fields.ts';

export const SUBPROTOCOL = 'oasis.v1';

export interface NodeEntry {
  readonly name: string;
  readonly host: string;
  readonly software: string;
  readonly state: string;
  /** Time of the last change of state, milliseconds by the DAC's clock. */
  readonly since: number;
  readonly run: string;
  /** DAC clock minus node clock, and the round trip that it was taken from. */
  readonly clock_offset_ns: number | null;
  readonly round_trip_ns: number | null;
  readonly overhead: OverheadEntry | null;
  /** Whether its samples are replayed from a recording. */
  readonly replay: boolean;
}

/** The overhead of a node; shares are of one core. */
export interface OverheadEntry {
  readonly cpu: number;
  readonly callbacks: number;
  readonly budget: number | null;
  /** Lowered rates in hertz, by instance. */
  readonly lowered: Readonly<Record<string, number>>;
}

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

export interface Registry {
  readonly nodes: readonly NodeEntry[];
  readonly instances: readonly InstanceEntry[];
}

/** A command for an instance. */
export type CommandRequest =
  | { readonly command: 'hertz'; readonly hertz: number }
  | { readonly command: 'demand'; readonly min: number; readonly max: number }
  | { readonly command: 'deadband'; readonly metric: string; readonly deadband?: number }
  | { readonly command: 'demand-off' | 'enable' | 'disable' | 'sample-now' | 'trigger' };

/** The only kind whose silence is a fault: the others are silent if nothing happens. */
export const PERIODIC = 'periodic';

/** Returns whether a periodic probe has an unknown rate: the archive stores no rates, so imported and replayed instances have none. */
export function isRateUnknown({ kind, hertz, recorder }: InstanceEntry): boolean {
  return kind === PERIODIC && hertz === null && recorder === null;
}

/** Returns whether a rate is valid. */
export function isRate(hertz: number): boolean {
  return hertz >= 0.01 && hertz <= 1000;
}

export type ClientMessage =
  | { op: 'watch'; id: number }
  | {
      op: 'subscribe';
      id: number;
      node: string;
      instance: string;
      resume?: string;
      from?: 'earliest';
      overflow?: 'latest';
    }
  | { op: 'unsubscribe'; id: number; topic: number }
  | ({ op: 'command'; id: number; node: string; instance: string } & CommandRequest)
  | { op: 'ping'; id: number; client_time: number };

export type ServerMessage =
  | { op: 'welcome'; server: string; epoch: string }
  | { op: 'registry'; registry: Registry }
  | {
      op: 'subscribed';
      id: number;
      topic: number;
      epoch: string;
      offset: number;
      entry: InstanceEntry;
      schema: unknown;
    }
  | { op: 'gap'; topic: number; cause: string; count: number | undefined }
  | { op: 'epoch'; topic: number; epoch: string; offset: number }
  | { op: 'type_changed'; topic: number; schema: unknown }
  /** Without an id if the page did not request it. */
  | { op: 'unsubscribed'; id: number | undefined; topic: number }
  | { op: 'result'; id: number; hertz: number | undefined; enabled: boolean | undefined }
  | { op: 'pong'; id: number; dacTime: number }
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
    case 'registry':
      return { op: 'registry', registry: parseRegistry(fields) };
    case 'subscribed':
      return parseSubscribed(fields);
    case 'gap':
      return {
        op: 'gap',
        topic: number(fields.topic),
        cause: text(fields.cause),
        count: optionalNumber(fields.count),
      };
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
  return {
    op: 'subscribed',
    id: number(fields.id),
    topic: number(fields.topic),
    epoch: text(fields.epoch),
    offset: number(fields.offset),
    entry: parseInstance(fields.instance),
    schema: fields.instance.schema,
  };
}

function parseRegistry(fields: Fields): Registry {
  const nodes = listOf(fields.nodes).map(parseNode);
  const lowered = new Map(nodes.map((node) => [node.name, node.overhead?.lowered ?? {}]));
  const instances = listOf(fields.instances)
    .map(parseInstance)
    .map((entry) => ({
      ...entry,
      pace: entry.pace && (lowered.get(entry.node)?.[entry.instance] ?? entry.pace),
    }));
  return { nodes, instances };
}

function parseNode(fields: Fields): NodeEntry {
  return {
    name: text(fields.name),
    host: text(fields.host),
    software: text(fields.software),
    state: text(fields.state),
    since: number(fields.since) / 1e6,
    run: text(fields.run),
    clock_offset_ns: optionalNumber(fields.clock_offset_ns) ?? null,
    round_trip_ns: optionalNumber(fields.round_trip_ns) ?? null,
    overhead: parseOverhead(fields.overhead),
    replay: fields.replay === true,
  };
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
  const hertz = optionalNumber(fields.hertz) ?? null;
  const recorder = parseRecorder(fields.recorder);
  return {
    id: number(fields.id),
    node: text(fields.node),
    instance: text(fields.instance),
    type: text(fields.type),
    uuid: text(fields.uuid),
    version: text(fields.version),
    state: text(fields.state),
    enabled: fields.enabled !== false,
    hertz,
    pace: recorder ? null : hertz,
    demand: parseDemand(fields.demand),
    kind: text(fields.kind),
    recorder,
    replay: fields.replay === true,
    run: text(fields.run),
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
