import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as shapes from '../../../crates/pdl-gen/tests/shapes/shapes.ts';
import { AwkwardMetrics } from '../../../crates/pdl-gen/tests/typescript/awkward.ts';
import { typesOf } from './batch/types.ts';
import {
  type ByteOrder,
  DecodeError,
  decodeBatch,
  decodePacket,
  decodePacketHeader,
  decodeSamples,
  encodeBatch,
  encodePacket,
  fromRow,
  type MetricType,
  type ProbeCodec,
  parseSchema,
  RowReader,
  samples,
  toRow,
} from './index.ts';
import { type Exact, fromExact, fromHex, seeded, toHex } from './testing/vectors.ts';

interface Case {
  readonly name: string;
  readonly probe: string;
  readonly values: readonly Exact[];
  readonly row: string;
  readonly little: string;
  readonly big: string;
  readonly batch: string;
}

const { cases }: { readonly cases: readonly Case[] } = JSON.parse(
  readFileSync(new URL('../../../vectors/shapes.json', import.meta.url), 'utf8'),
);

const PROBES: readonly ProbeCodec<unknown>[] = [
  shapes.ShapesNumbers,
  shapes.Texts,
  shapes.Vectors,
  shapes.Structs,
  shapes.Enums,
  shapes.Nothing,
  shapes.InnerNumbers,
  shapes.Words,
];
const ORDERS: readonly ByteOrder[] = ['little', 'big'];
const NODE_TIME = 1_763_683_200_000_000_000n;

/** Returns the codec of a case without the type of its samples. */
function codecOf({ probe }: Case): ProbeCodec<unknown> {
  return PROBES.find(({ name }) => name === probe)!;
}

/** Returns the sample of a case. */
function sampleOf(of: ProbeCodec<unknown>, { values }: Case): unknown {
  const { metrics } = parseSchema(JSON.parse(of.schema));
  return Object.fromEntries(metrics.map(({ name, type }, index) => [name, fromExact(values[index]!, type)]));
}

function packetOf(sample: unknown) {
  return {
    instance: 'shapes',
    sample,
    sequence: 41,
    seconds: 1_763_683_199,
    microseconds: 999_000,
    state: 2,
  };
}

/** Decodes any bytes; the only permitted error is a `DecodeError`. */
function kindOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof DecodeError) return error.kind;
    throw error;
  }
  return 'accepted';
}

describe.each(cases)('$name', (shape) => {
  const of = codecOf(shape);
  const sample = sampleOf(of, shape);

  it('is written to the bytes of the row, and read from them', () => {
    expect(toHex(toRow(sample, of))).toBe(shape.row);
    const read = fromRow(fromHex(shape.row), of);
    expect(read).toEqual(sample);
    expect(toHex(toRow(read, of))).toBe(shape.row);
  });

  it.each(ORDERS)('is written to the bytes of the packet, and read from them, %s-endian', (order) => {
    expect(toHex(encodePacket(packetOf(sample), of, order))).toBe(shape[order]);
    const packet = decodePacket(fromHex(shape[order]), of, order);
    expect(packet).toEqual({ ...packetOf(sample), uuid: of.uuid, version: [1, 1] });
    expect(toHex(encodePacket(packet, of, order))).toBe(shape[order]);
    expect(decodePacketHeader(fromHex(shape[order]), order)).toMatchObject({ uuid: of.uuid, sequence: 41 });
  });

  it('is read from the native batch', () => {
    const expected = [{ sequence: 41n, time: NODE_TIME - 1_000_000n, sample }];
    expect(decodeSamples(fromHex(shape.batch), of)).toEqual(expected);
    const [found] = samples(decodeBatch(fromHex(shape.batch), typesOf(of)), of);
    expect(toHex(toRow(found!.sample, of))).toBe(shape.row);
  });

  it('survives a batch encoded here', () => {
    const timed = [0n, 5n, -5n].map((delta) => ({ time: NODE_TIME + delta, sample }));
    const bytes = encodeBatch(timed, of, { firstSequence: 7n, nodeTime: NODE_TIME, state: 2, topic: 3 });
    const found = decodeSamples(bytes, of);
    expect(found).toEqual(timed.map((one, index) => ({ ...one, sequence: 7n + BigInt(index) })));
    expect(found.map((one) => toHex(toRow(one.sample, of)))).toEqual([shape.row, shape.row, shape.row]);
  });

  it('is refused if truncated or extended', () => {
    const row = fromHex(shape.row);
    for (let length = 0; length < row.length; length++) {
      expect(kindOf(() => fromRow(row.subarray(0, length), of))).not.toBe('accepted');
    }
    expect(kindOf(() => fromRow(Uint8Array.of(...row, 0), of))).toBe('leftover');
    for (const order of ORDERS) {
      const packet = fromHex(shape[order]);
      for (let length = 0; length < packet.length; length++) {
        expect(kindOf(() => decodePacket(packet.subarray(0, length), of, order))).not.toBe('accepted');
      }
      expect(kindOf(() => decodePacket(Uint8Array.of(...packet, 0), of, order))).toBe('leftover');
    }
    const batch = fromHex(shape.batch);
    for (let length = 0; length < batch.length; length++) {
      expect(kindOf(() => decodeSamples(batch.subarray(0, length), of))).not.toBe('accepted');
    }
  });
});

describe('hostile bytes', () => {
  const random = seeded(20_120_917);

  it('cause no other error, whatever they are', () => {
    for (const of of PROBES) {
      for (let round = 0; round < 400; round++) {
        const bytes = Uint8Array.from({ length: random(64) }, () => random(256) >> random(8));
        kindOf(() => of.read(new RowReader(bytes)));
        kindOf(() => fromRow(bytes, of));
      }
    }
  });

  it('cause no other error, whichever bits are flipped', () => {
    for (const shape of cases) {
      const of = codecOf(shape);
      for (let round = 0; round < 150; round++) {
        for (const [form, read] of [
          [shape.row, (bytes: Uint8Array) => fromRow(bytes, of)],
          [shape.little, (bytes: Uint8Array) => decodePacket(bytes, of)],
          [shape.big, (bytes: Uint8Array) => decodePacket(bytes, of, 'big')],
          [shape.batch, (bytes: Uint8Array) => decodeSamples(bytes, of)],
        ] as const) {
          const bytes = fromHex(form);
          if (bytes.length > 0) bytes[random(bytes.length)] = random(256);
          kindOf(() => read(bytes));
        }
      }
    }
  });

  it('cannot allocate memory with a length', () => {
    const counts = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    expect(kindOf(() => fromRow(Uint8Array.from(counts), shapes.Vectors))).toBe('elements');
    expect(kindOf(() => fromRow(Uint8Array.from(counts), shapes.Texts))).toBe('truncated');
    expect(kindOf(() => fromRow(Uint8Array.of(...counts.slice(0, 9), 0x02), shapes.Texts))).toBe('varint');
  });
});

describe('a codec', () => {
  it('has initial values that can be encoded', () => {
    const awkward: ProbeCodec<unknown> = AwkwardMetrics;
    for (const of of [...PROBES, awkward]) {
      const sample = of.create();
      expect(fromRow(toRow(sample, of), of)).toEqual(sample);
    }
    const port: shapes.Port = shapes.Port.create();
    expect(port).toEqual({ name: '', bytes: 0n, up: false, mode: shapes.Mode.DOWN });
  });

  it('has the schema of its samples', () => {
    const types: readonly MetricType[] = typesOf(shapes.InnerNumbers);
    expect(types.slice(0, 2)).toEqual(['uint64', 'uint8']);
    expect(JSON.parse(shapes.Structs.schema)).toMatchObject({ version: shapes.Structs.version });
  });
});
