/** The native batch (docs/reference/native-batch.md): from bytes to columns, pure functions without dependencies. */
export { type Batch, type Column, decodeBatch, decodeHeader } from './batch/batch.ts';
export type { BatchHeader } from './batch/header.ts';
export type { Value } from './batch/rows.ts';
export { DecodeError, type DecodeKind } from './error.ts';
export { type EnumType, enumeratorOf } from './meaning.ts';
export * from './schema.ts';
