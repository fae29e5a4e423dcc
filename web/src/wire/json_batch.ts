import {
  type Batch,
  type Column,
  isBlob,
  isStruct,
  isVector,
  type Metric,
  type MetricType,
  type Value,
} from '@oasis/wire';

import { isFields } from './fields.ts';

/** Converts samples in the format of the text doors (docs/reference/text-doors.md) to a batch. */

export interface SamplesMessage {
  readonly event: 'samples';
  readonly node: string;
  readonly instance: string;
  readonly node_time: string;
  readonly dac_time: string;
  readonly dropped_before: number;
  /** As the DAC's ledger has them; absent without gaps, and from an earlier DAC. */
  readonly gaps_before?: unknown;
  readonly samples: readonly JsonSample[];
}

export interface JsonSample {
  readonly sequence: string;
  readonly offset: string;
  readonly time: string;
  readonly state: number;
  readonly metrics: Readonly<Record<string, unknown>>;
}

/** Converts a message with `integers=string`. Throws if it does not fit the schema. */
export function batchOf(message: SamplesMessage, topic: number, metrics: readonly Metric[]): Batch {
  const { samples } = message;
  const [first] = samples;
  if (!first) throw new TypeError('a message without samples');
  return {
    state: first.state,
    topic,
    firstSequence: BigInt(first.sequence),
    offset: BigInt(first.offset),
    nodeTime: BigInt(message.node_time),
    dacTime: BigInt(message.dac_time),
    droppedBefore: message.dropped_before,
    count: samples.length,
    columns: metrics.length + 1,
    times: BigInt64Array.from(samples, ({ time }) => BigInt(time)),
    metrics: metrics.map((metric) => columnOf(metric, samples)),
  };
}

function columnOf({ name, type }: Metric, samples: readonly JsonSample[]): Column {
  const values = samples.map(({ metrics }) => {
    const json = metrics[name];
    // Boolean columns contain 0 and 1, as in a batch. What a sample lacks is undefined.
    return json === null ? undefined : type === 'boolean' ? Number(json) : fromJson(type, json);
  });
  return values as Column;
}

/** Converts a value to a type of the schema; null within it is NaN or nothing. Throws if it does not fit. */
export function fromJson(type: MetricType, json: unknown): Value {
  if (isStruct(type)) {
    if (typeof json !== 'object') throw new TypeError('expected an object for a struct');
    const members = json as Record<string, unknown> | null;
    return type.struct.members.map(({ type, name }) =>
      fromJson(type, members === null ? null : members[name]),
    );
  }
  if (isBlob(type)) return bytesOfJson(json) ?? describeJson(json);
  if (json === null) return isVector(type) ? [] : type === 'string' ? '' : Number.NaN;
  if (isVector(type)) return listOf(json).map((element) => fromJson(type.vector, element));
  switch (type) {
    case 'string':
    case 'boolean':
      return json as string | boolean;
    case 'int64':
    case 'uint64':
      return narrowest(BigInt(json as string));
    default:
      // JSON has NaN and infinities as texts, which become numbers.
      return Number(json);
  }
}

/** Returns the bytes of a blob of a request with `blobs=base64`. */
export function bytesOfJson(json: unknown): Uint8Array<ArrayBuffer> | undefined {
  const data = isFields(json) ? json.data : undefined;
  if (typeof data !== 'string') return undefined;
  try {
    return Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** What a blob is, without its bytes. */
function describeJson(json: unknown): string {
  const { media_type, bytes } = isFields(json) ? json : {};
  return `${media_type ?? ''}, ${bytes ?? 0} B`;
}

function narrowest(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function listOf(json: unknown): readonly unknown[] {
  if (!Array.isArray(json)) throw new TypeError('expected a list for a vector');
  return json;
}
