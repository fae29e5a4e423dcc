import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  DecodeError,
  decodePacket,
  EncodeError,
  encodePacket,
  type ProbeCodec,
  rateCommand,
  registerCommand,
  schemaCommand,
  unregisterCommand,
} from '../index.ts';
import { fromHex } from '../testing/vectors.ts';

const { captured }: { readonly captured: string } = JSON.parse(
  readFileSync(new URL('../../../../vectors/eisa.json', import.meta.url), 'utf8'),
);

interface Processor {
  counters: bigint[];
}

/** Reconstructed from the captured packet, whose PDL is lost. */
const Processor: ProbeCodec<Processor> = {
  name: 'ProcessorProbe',
  uuid: 'b049990b-17aa-4ca2-8806-e89329963788',
  version: '1.0',
  schema: '{}',
  create: () => ({ counters: [] }),
  write(value, to) {
    for (const counter of value.counters) to.uint64(counter, 'ProcessorProbe.counters');
  },
  read: (source) => ({ counters: Array.from({ length: 7 }, () => source.uint64()) }),
};

describe('the packet that was captured for the thesis', () => {
  it('is decoded, with garbage in its padding', () => {
    const packet = decodePacket(fromHex(captured), Processor);
    expect(packet).toMatchObject({
      instance: 'ProcessorProbe_SmokeTest',
      version: [1, 1],
      sequence: 1,
      state: 0,
      seconds: 22873,
      microseconds: 209292,
    });
    expect(packet.sample.counters.slice(0, 2)).toEqual([8011350n, 69249n]);
  });

  it('is encoded again without that garbage', () => {
    const cleaned = fromHex(captured);
    for (const [start, end] of [
      [6, 8],
      [38, 40],
      [73, 80],
    ] as const) {
      cleaned.fill(0, start, end);
    }
    expect(encodePacket(decodePacket(fromHex(captured), Processor), Processor)).toEqual(cleaned);
  });

  it.each([
    [0, 0, 'magic'],
    [4, 2, 'version'],
    [5, 2, 'version'],
    [8, 0, 'probe'],
    [40, 57, 'truncated'],
    [40, 55, 'leftover'],
    [48, 0xff, 'text'],
    [72, 1, 'terminator'],
  ] as const)('is refused with another octet at %i', (at, octet, kind) => {
    const packet = fromHex(captured);
    packet[at] = octet;
    expect(() => decodePacket(packet, Processor)).toThrow(
      expect.objectContaining({ kind, name: DecodeError.name }),
    );
  });
});

describe('a command', () => {
  it('has 256 octets', () => {
    const command = registerCommand('my-node', 'processor');
    expect(command.length).toBe(256);
    expect(new TextDecoder().decode(command.subarray(0, 24))).toBe(
      '\x01\0\0\0\x08\0\0\0my-node\0\x0a\0\0\0proc',
    );
    expect(unregisterCommand('n', 'i')[0]).toBe(2);
    expect(schemaCommand('n', 'i')[0]).toBe(4);
    expect(() => registerCommand('n'.repeat(128), 'i'.repeat(128))).toThrow(EncodeError);
  });

  it('requests a decimal rate', () => {
    const text = (hertz: number) =>
      new TextDecoder().decode(rateCommand('n', 'i', hertz)).replaceAll('\0', '');
    expect(text(0.1 + 0.2)).toMatch(/0\.3$/);
    expect(text(1000)).toMatch(/1000$/);
  });
});
