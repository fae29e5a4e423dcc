/** Why a batch was refused. One word each, so that a counter or a test can name it. */
export type BatchReason =
  | 'too_large'
  | 'truncated'
  | 'kind'
  | 'version'
  | 'count'
  | 'columns'
  | 'encoding'
  | 'padding'
  | 'varint'
  | 'run'
  | 'rice'
  | 'range'
  | 'boolean'
  | 'text'
  | 'length'
  | 'depth'
  | 'trailing';

/** The only error a decoder throws, whatever the bytes are. `at` is the offset in the batch. */
export class BatchError extends Error {
  override readonly name = 'BatchError';

  constructor(
    readonly reason: BatchReason,
    readonly at: number,
    detail: string,
  ) {
    super(`native batch refused at byte ${at}: ${detail}`);
  }
}
