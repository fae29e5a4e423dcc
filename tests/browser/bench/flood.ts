import { randomUUID } from 'node:crypto';
import { riceColumn } from '@oasis/wire/testing';
import type { PlainInstance, PlainNode } from '../harness/plain_node.ts';

/** A steady stream of numbers, encoded once, so that the benchmark does not measure its own work. */

export const METRICS = 7;
const NANOSECONDS = 1_000_000_000n;

export function flooded(name: string): PlainInstance {
  return {
    name,
    schema: {
      name: 'Bench::Flood',
      uuid: randomUUID(),
      version: '1.0',
      metrics: Array.from({ length: METRICS }, (_, index) => ({
        name: `m${index}`,
        type: 'uint64',
        unit: 'V',
      })),
    },
  };
}

/** Encodes columns of samples at a rate, in the encoding that a node would choose. */
export function encoded(
  samples: number,
  hertz: number,
): { readonly directory: Buffer; readonly body: Buffer } {
  const step = NANOSECONDS / BigInt(hertz);
  const times = Array.from({ length: samples }, (_, index) => BigInt(index) * step);
  const columns = [riceColumn(times, step, 0)];
  for (let metric = 0; metric < METRICS; metric++) {
    const values = times.map((_, index) =>
      BigInt(
        Math.round(
          1000 * (metric + 1) +
            400 * Math.sin((index / samples) * 2 * Math.PI * (metric + 1)) +
            ((index * 7919) % 61),
        ),
      ),
    );
    columns.push(riceColumn(values, 0n, 6));
  }
  return { directory: Buffer.alloc(METRICS + 1, 2), body: Buffer.from(columns.flat()) };
}

/** Sends batches at the rate of the wall clock until it is stopped. */
export function flood(node: PlainNode, instance: string, hertz: number, batches: number): () => void {
  const samples = Math.round(hertz / batches);
  const { directory, body } = encoded(samples, hertz);
  const began = Date.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((Date.now() - began) * batches) / 1000);
    for (; sent < due; sent++) {
      const time = BigInt(began) * 1_000_000n + (BigInt(sent * samples) * NANOSECONDS) / BigInt(hertz);
      node.send(instance, samples, time, directory, body);
    }
  }, 5);
  return () => clearInterval(timer);
}
