import type { ProbeCodec } from '../codec.ts';
import { DecodeError } from '../error.ts';
import { type Batch, decodeBatch } from './batch.ts';
import { ColumnReader } from './column_reader.ts';
import { typesOf } from './types.ts';

/** A sample of a batch. */
export interface Numbered<T> {
  /** Sequence number, from 1 in each run of the node; a gap in the numbers is a loss. */
  readonly sequence: bigint;
  /** Nanoseconds since 1970-01-01 UTC by the node's clock. */
  readonly time: bigint;
  readonly sample: T;
}

/**
 * Returns the samples of a batch that was decoded with the types of this probe. Throws a {@link DecodeError} and nothing
 * else.
 */
export function samples<T>(batch: Batch, of: ProbeCodec<T>): Numbered<T>[] {
  return Array.from(batch.times, (time, index) => {
    const values = batch.metrics.map((column) => column[index]);
    return { sequence: batch.firstSequence + BigInt(index), time, sample: read(values, of, index) };
  });
}

/** Decodes the samples of a native batch of this probe type. Throws a {@link DecodeError} and nothing else. */
export function decodeSamples<T>(bytes: Uint8Array, of: ProbeCodec<T>): Numbered<T>[] {
  return samples(decodeBatch(bytes, typesOf(of)), of);
}

function read<T>(values: readonly unknown[], of: ProbeCodec<T>, index: number): T {
  const sample = new ColumnReader(values, `sample ${index} of the batch`);
  const value = of.read(sample);
  if (sample.left > 0) {
    throw new DecodeError('columns', undefined, `the batch has more metrics than ${of.name}`);
  }
  return value;
}
