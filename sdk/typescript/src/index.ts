/**
 * Samples of OASIS probes in TypeScript: functions from bytes to values and back, without dependencies.
 *
 * A PDL probe compiled with `oasis pdl compile --lang typescript` is an interface and a {@link ProbeCodec} of the same name, which
 * writes to any {@link Writer} and reads from any {@link Reader}. A tool that meets types only at run time decodes batches by the
 * {@link Schema} that travels with registration.
 */

export { type Batch, type Column, decodeBatch, decodeHeader } from './batch/batch.ts';
export { type BatchFields, encodeBatch, type Timed } from './batch/encode.ts';
export type { BatchHeader } from './batch/header.ts';
export type { Value } from './batch/rows.ts';
export { decodeSamples, type Numbered, samples } from './batch/samples.ts';
export type { EnumBase, ProbeCodec, Reader, StructCodec, Writer } from './codec.ts';
export { rateCommand, registerCommand, schemaCommand, unregisterCommand } from './eisa/command.ts';
export {
  decodePacket,
  decodePacketHeader,
  encodePacket,
  type Packet,
  type PacketHeader,
  type PacketParts,
} from './eisa/packet.ts';
export { type Enumeration, type EnumeratorOf, isDeclared, nameOf } from './enumeration.ts';
export { DecodeError, type DecodeKind, EncodeError, type EncodeKind } from './error.ts';
export { type Cause, LOSS_CAUSES, type LossCause, lossCause } from './loss.ts';
export { type EnumType, enumeratorOf, type Judgement, judge, type Meaning } from './meaning.ts';
export { type ByteOrder, CdrReader, CdrWriter } from './sample/cdr.ts';
export { fromRow, RowReader, RowWriter, toRow } from './sample/row.ts';
export * from './schema.ts';
