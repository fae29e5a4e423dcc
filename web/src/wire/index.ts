/** The native batch (docs/reference/native-batch.md): from bytes to columns, pure functions without dependencies. */
export { type Batch, type Column, decodeBatch, decodeHeader } from './batch.ts';
export { BatchError, type BatchReason } from './error.ts';
export type { BatchHeader } from './header.ts';
export { type EnumType, enumeratorOf } from './meaning.ts';
export type { Value } from './rows.ts';
export * from './schema.ts';
