/** Why bytes were refused. One word each, so that a counter or a test can name it. */
export type DecodeKind =
  // Values of any form.
  | 'truncated'
  | 'leftover'
  | 'varint'
  | 'boolean'
  | 'text'
  | 'terminator'
  | 'elements'
  | 'enumerator'
  // EISA packets; a version that nobody knows is refused in batches too.
  | 'magic'
  | 'version'
  | 'probe'
  // Native batches.
  | 'too_large'
  | 'kind'
  | 'count'
  | 'columns'
  | 'encoding'
  | 'padding'
  | 'run'
  | 'rice'
  | 'range'
  | 'depth';

/** The only error that bytes cause, whatever they are. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
  readonly kind: DecodeKind;
  /** Where, counted from the first byte of the row, packet or batch. */
  readonly offset: number;

  constructor(kind: DecodeKind, offset: number, problem: string) {
    super(`refused at byte ${offset}: ${problem}`);
    this.kind = kind;
    this.offset = offset;
  }
}
