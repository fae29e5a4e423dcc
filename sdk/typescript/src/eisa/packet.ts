import type { ProbeCodec } from '../codec.ts';
import { DecodeError } from '../error.ts';
import { type ByteOrder, CdrReader, CdrWriter } from '../sample/cdr.ts';
import { readUuid, writeUuid } from './uuid.ts';

/** Header of an EISA packet (eisa.md). */
export interface PacketHeader {
  /** Identity of the probe type. */
  readonly uuid: string;
  /** Major and minor version. */
  readonly version: readonly [number, number];
  /** Time of the sample since 1970-01-01 UTC, by the node's clock. */
  readonly seconds: number;
  readonly microseconds: number;
  /** Sequence number of the sample: starts at 1, wraps at 32 bits. */
  readonly sequence: number;
  /** Probe state; 0 is normal. */
  readonly state: number;
  /** Instance name. */
  readonly instance: string;
}

/** A sample of a generated probe type, with its time and instance. */
export interface Packet<T> extends PacketHeader {
  readonly sample: T;
}

/** Content of a packet. */
export interface PacketParts<T> {
  readonly instance: string;
  readonly sample: T;
  readonly sequence: number;
  readonly seconds: number;
  readonly microseconds: number;
  /** Probe state; 0 if absent. */
  readonly state?: number;
}

const MAGIC = [0x45, 0x49, 0x53, 0x41] as const;
const VERSION = [1, 1] as const;
const DATA_ALIGNMENT = 8;

/** Encodes a packet. Throws an {@link EncodeError} for a value that does not fit. */
export function encodePacket<T>(
  parts: PacketParts<T>,
  of: ProbeCodec<T>,
  order: ByteOrder = 'little',
): Uint8Array<ArrayBuffer> {
  // The size does not depend on the offset: the data is aligned like the packet.
  const data = new CdrWriter(order);
  of.write(parts.sample, data);
  const packet = new CdrWriter(order);
  packet.octets(MAGIC);
  packet.octets(VERSION);
  writeUuid(of.uuid, packet);
  packet.uint32(parts.seconds, 'Packet.seconds');
  packet.uint32(parts.microseconds, 'Packet.microseconds');
  packet.uint32(parts.sequence, 'Packet.sequence');
  packet.uint16(parts.state ?? 0, 'Packet.state');
  packet.uint32(data.length, 'Packet.data');
  packet.string(parts.instance, 'Packet.instance');
  packet.align(DATA_ALIGNMENT);
  packet.octets(data.bytes());
  return packet.bytes();
}

/** Decodes the header of a packet, which identifies the probe type of the rest. */
export function decodePacketHeader(bytes: Uint8Array, order: ByteOrder = 'little'): PacketHeader {
  return readHeader(new CdrReader(bytes, order)).header;
}

/** Decodes a packet of this probe type. Throws a {@link DecodeError} and nothing else. */
export function decodePacket<T>(
  bytes: Uint8Array,
  of: ProbeCodec<T>,
  order: ByteOrder = 'little',
): Packet<T> {
  const source = new CdrReader(bytes, order);
  const { header, size } = readHeader(source);
  if (header.uuid !== of.uuid) {
    throw new DecodeError(
      'probe',
      8,
      `the packet is of probe type ${header.uuid}, not of ${of.name} (${of.uuid})`,
    );
  }
  source.align(DATA_ALIGNMENT);
  const { offset, left } = source;
  if (size > left)
    throw new DecodeError('truncated', offset, `expected ${size} bytes of probe data, ${left} left`);
  if (size < left)
    throw new DecodeError('leftover', offset + size, `${left - size} bytes after the probe data`);
  const sample = of.read(source);
  source.finish();
  return { ...header, sample };
}

function readHeader(source: CdrReader): { header: PacketHeader; size: number } {
  const version = readVersion(source);
  const uuid = readUuid(source);
  const seconds = source.uint32();
  const microseconds = source.uint32();
  const sequence = source.uint32();
  const state = source.uint16();
  const size = source.uint32();
  const instance = source.string();
  return { header: { uuid, version, seconds, microseconds, sequence, state, instance }, size };
}

function readVersion(source: CdrReader): readonly [number, number] {
  const magic = source.octets(MAGIC.length);
  if (!MAGIC.every((octet, index) => octet === magic[index])) {
    throw new DecodeError('magic', 0, 'the packet does not begin with EISA');
  }
  const [major, minor] = [source.uint8(), source.uint8()];
  if (major !== 1 || minor > 1) {
    throw new DecodeError(
      'version',
      MAGIC.length,
      `unsupported EISA version ${major}.${minor}: supported are 1.0 and 1.1`,
    );
  }
  return [major, minor];
}
