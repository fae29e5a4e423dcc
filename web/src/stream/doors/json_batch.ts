import {
  type Batch,
  type Column,
  isStruct,
  isVector,
  type Metric,
  type MetricType,
  type Value,
} from '@oasis/wire';

/** Samples as text doors write them (docs/reference/text-doors.md), as the batch that they were. */

export interface SamplesMessage {
  readonly event: 'samples';
  readonly node: string;
  readonly instance: string;
  readonly node_time: string;
  readonly dac_time: string;
  readonly dropped_before: number;
  readonly samples: readonly JsonSample[];
}

export interface JsonSample {
  readonly sequence: string;
  readonly offset: string;
  readonly time: string;
  readonly state: number;
  readonly metrics: Readonly<Record<string, unknown>>;
}

/** Written with `integers=string`. Throws if it is not what the schema says. */
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
  const values = samples.map(({ metrics }) => fromJson(type, metrics[name]));
  // Columns of booleans are of 0 and 1, as in a batch.
  return type === 'boolean' ? Uint8Array.from(values, Number) : values;
}

/** A value as the schema has it. Throws if it is none. */
export function fromJson(type: MetricType, json: unknown): Value {
  if (isVector(type)) return listOf(json).map((element) => fromJson(type.vector, element));
  if (isStruct(type)) {
    if (typeof json !== 'object' || json === null) throw new TypeError('a struct that is no object');
    const members = json as Record<string, unknown>;
    return type.struct.members.map((member) => fromJson(member.type, members[member.name]));
  }
  switch (type) {
    case 'string':
    case 'boolean':
      return json as string | boolean;
    case 'int64':
    case 'uint64':
      return narrowest(BigInt(json as string));
    default:
      // NaN and infinities are texts, and a number is what they become.
      return Number(json);
  }
}

function narrowest(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function listOf(json: unknown): readonly unknown[] {
  if (!Array.isArray(json)) throw new TypeError('a vector that is no list');
  return json;
}
