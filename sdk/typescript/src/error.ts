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
  /** Where, counted from the first byte of the row, packet or batch; undefined for a value that was a column's already. */
  readonly offset: number | undefined;

  constructor(kind: DecodeKind, offset: number | undefined, problem: string) {
    super(offset === undefined ? `refused: ${problem}` : `refused at byte ${offset}: ${problem}`);
    this.kind = kind;
    this.offset = offset;
  }
}

/** Why a value cannot be written: of another type, out of its range, text that UTF-8 cannot carry, more than fits. */
export type EncodeKind = 'type' | 'range' | 'text' | 'length';

/** A value that its metric cannot hold. */
export class EncodeError extends Error {
  override readonly name = 'EncodeError';
  readonly kind: EncodeKind;
  /** Scoped PDL name of the probe or struct, a point, and the metric: `Plant::Line.temperature`. */
  readonly metric: string;
  /** What is wrong with the value. */
  readonly problem: string;

  constructor(kind: EncodeKind, metric: string, problem: string) {
    super(`${metric}: ${problem}`);
    this.kind = kind;
    this.metric = metric;
    this.problem = problem;
  }
}
