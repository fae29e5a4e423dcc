import { bench, describe } from 'vitest';
import { decodeBatch, type MetricType } from '../src/index.ts';
import { batch, deltaColumn, riceColumn, xorColumn } from '../src/testing/batch.ts';

const COUNT = 10_000;
const NOW = 1_763_683_200_000_000_000n;
const times = Array.from(
  { length: COUNT },
  (_, index) => NOW + BigInt(index) * 1_000_000n + BigInt((index * 7919) % 4096),
);
const counter = Array.from(
  { length: COUNT },
  (_, index) => 8_000_000n + BigInt(index) + BigInt((index * 31) % 7),
);
const still = Array.from({ length: COUNT }, (_, index) => BigInt(Math.floor(index / 20)));
const huge = counter.map((value) => value + 2n ** 60n);
const reals = Array.from(
  new BigUint64Array(Float64Array.from(counter, (value) => Math.sin(Number(value))).buffer),
);

function metric(name: string, type: MetricType, encoding: number, column: readonly number[]): void {
  const timeColumn = riceColumn(times, 1_000_000n, 12, NOW);
  const bytes = batch({
    nodeTime: NOW,
    count: COUNT,
    directory: [2, encoding],
    body: [...timeColumn, ...column],
  });
  bench(`${name}, and rice times`, () => {
    decodeBatch(bytes, [type]);
  });
}

describe(`decode of ${COUNT} samples`, () => {
  bench('rice times alone', () => {
    decodeBatch(timesOnly, []);
  });
  metric('delta, mostly still (uint64)', 'uint64', 1, deltaColumn(still));
  metric('delta, moving (uint64)', 'uint64', 1, deltaColumn(counter));
  metric('rice (uint64)', 'uint64', 2, riceColumn(counter, 1n, 2));
  metric('rice (uint64 beyond 2^53, slow path)', 'uint64', 2, riceColumn(huge, 1n, 2));
  metric('xor (real64, noise)', 'real64', 3, xorColumn(reals, 8));
});

const timesOnly = batch({
  nodeTime: NOW,
  count: COUNT,
  directory: [2],
  body: riceColumn(times, 1_000_000n, 12, NOW),
});
