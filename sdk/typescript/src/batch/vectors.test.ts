import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type Column,
  DecodeError,
  decodeBatch,
  isBlob,
  isVector,
  type MetricType,
  parseSchema,
  parseType,
} from '../index.ts';
import { type Exact, fromHex, toHex } from '../testing/vectors.ts';
import type { Value } from './rows.ts';

interface Case {
  readonly name: string;
  readonly schema: unknown;
  readonly header: {
    readonly state: number;
    readonly topic: number;
    readonly first_sequence: string;
    readonly offset: string;
    readonly node_time: string;
    readonly dac_time: string;
    readonly dropped_before: number;
    readonly count: number;
  };
  readonly samples: readonly { readonly time: string; readonly values: readonly Exact[] }[];
  readonly bytes: string;
}

interface Vectors {
  readonly valid: readonly Case[];
  readonly invalid: {
    readonly schema: { readonly metrics: readonly { readonly type: string }[] };
    readonly cases: readonly { readonly name: string; readonly bytes: string }[];
  };
}

const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../../../../vectors/native-batch.json', import.meta.url), 'utf8'),
);

function bits(value: number, type: 'real32' | 'real64'): string {
  const view = new DataView(new ArrayBuffer(8));
  if (type === 'real32') view.setFloat32(0, value);
  else view.setFloat64(0, value);
  return Array.from(new Uint8Array(view.buffer, 0, type === 'real32' ? 4 : 8), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

function exact(value: Value, type: MetricType): Exact {
  if (typeof type === 'object') {
    const elements = value as readonly Value[];
    if (isVector(type)) return elements.map((element) => exact(element, type.vector));
    if (isBlob(type)) return { hex: toHex(value as Uint8Array) };
    return type.struct.members.map((member, index) => exact(elements[index]!, member.type));
  }
  if (type === 'boolean') return Boolean(value);
  if (type === 'string') return { text: value as string };
  if (type === 'real32' || type === 'real64') return { bits: bits(value as number, type) };
  return BigInt(value as number | bigint).toString();
}

describe('the vectors that every language reads', () => {
  it.each(vectors.valid)('$name', ({ schema, header, samples, bytes }) => {
    const types = parseSchema(schema).metrics.map((metric) => metric.type);
    const decoded = decodeBatch(fromHex(bytes), types);
    expect(decoded).toMatchObject({
      state: header.state,
      topic: header.topic,
      firstSequence: BigInt(header.first_sequence),
      offset: BigInt(header.offset),
      nodeTime: BigInt(header.node_time),
      dacTime: BigInt(header.dac_time),
      droppedBefore: header.dropped_before,
      count: header.count,
    });
    const at = (column: Column, type: MetricType, index: number) => exact(column[index]!, type);
    const found = Array.from({ length: decoded.count }, (_, index) => ({
      time: decoded.times[index]!.toString(),
      values: decoded.metrics.map((column, metric) => at(column, types[metric]!, index)),
    }));
    expect(found).toEqual(samples);
  });

  const types = vectors.invalid.schema.metrics.map((metric) => parseType(metric.type));
  it.each(vectors.invalid.cases)('refuse: $name', ({ bytes }) => {
    expect(() => decodeBatch(fromHex(bytes), types)).toThrow(DecodeError);
  });
});
