/** Kinds of decoding errors. */
export type DecodeKind =
  // Values of any format.
  | 'truncated'
  | 'leftover'
  | 'varint'
  | 'boolean'
  | 'text'
  | 'terminator'
  | 'elements'
  | 'blob'
  | 'enumerator'
  // EISA packets; batches use `version`, too.
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

/** Bytes that cannot be decoded. Decoders throw no other error. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
  readonly kind: DecodeKind;
  /** Offset of the error, counted from the first byte of the row, packet or batch; undefined for a value that comes from a decoded column. */
  readonly offset: number | undefined;

  constructor(kind: DecodeKind, offset: number | undefined, problem: string) {
    super(offset === undefined ? `refused: ${problem}` : `refused at byte ${offset}: ${problem}`);
    this.kind = kind;
    this.offset = offset;
  }
}

/** Kinds of encoding errors: wrong type, out of range, text that UTF-8 cannot represent, too long. */
export type EncodeKind = 'type' | 'range' | 'text' | 'length';

/** A value that its metric cannot represent. */
export class EncodeError extends Error {
  override readonly name = 'EncodeError';
  readonly kind: EncodeKind;
  /** Scoped PDL name of the probe or struct, a dot, and the metric: `Plant::Line.temperature`. */
  readonly metric: string;
  /** Description of the error in the value. */
  readonly problem: string;

  constructor(kind: EncodeKind, metric: string, problem: string) {
    super(`${metric}: ${problem}`);
    this.kind = kind;
    this.metric = metric;
    this.problem = problem;
  }
}
