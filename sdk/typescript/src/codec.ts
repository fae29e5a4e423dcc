import type { Enumeration, EnumeratorOf } from './enumeration.ts';

/** Generated code of a PDL struct, under the name of its interface. */
export interface StructCodec<T> {
  /** Scoped PDL name. */
  readonly name: string;
  /** Returns the initial values of all members: 0, false, empty, the first value of an enum. */
  create(): T;
  /** Writes the members in order; throws an `EncodeError` for a value that its member cannot represent. */
  write(value: T, to: Writer): void;
  /** Reads the members in order; throws a `DecodeError` for bytes that cannot be decoded. */
  read(source: Reader): T;
}

/** Generated code of a probe type. */
export interface ProbeCodec<T> extends StructCodec<T> {
  /** Identity of the type on the wire. */
  readonly uuid: string;
  /** `major.minor`; with the UUID it names one layout. */
  readonly version: string;
  /** Schema for registration: JSON that describes the samples to every tool. */
  readonly schema: string;
}

/** Types of the numbers that an enum can have. */
export type EnumBase = 'int8' | 'int16' | 'int32' | 'uint8' | 'uint16' | 'uint32';

/** Destination of values of generated code, each with the name of its metric, for errors. */
export interface Writer {
  int8(value: number, metric: string): void;
  int16(value: number, metric: string): void;
  int32(value: number, metric: string): void;
  int64(value: bigint, metric: string): void;
  uint8(value: number, metric: string): void;
  uint16(value: number, metric: string): void;
  uint32(value: number, metric: string): void;
  uint64(value: bigint, metric: string): void;
  /** The nearest IEEE 754 single. */
  real32(value: number, metric: string): void;
  real64(value: number, metric: string): void;
  boolean(value: boolean, metric: string): void;
  string(value: string, metric: string): void;
  /** Writes the bytes of a file, at most `maxBytes`. */
  blob(value: Uint8Array, maxBytes: number, metric: string): void;
  enumerator(value: number, of: Enumeration, type: EnumBase, metric: string): void;
  struct<T>(value: T, of: StructCodec<T>, metric: string): void;
  /** Writes the number of elements and returns the elements. */
  vector<T>(value: readonly T[], metric: string): readonly T[];
}

/** Source of values for generated code. */
export interface Reader {
  int8(): number;
  int16(): number;
  int32(): number;
  int64(): bigint;
  uint8(): number;
  uint16(): number;
  uint32(): number;
  uint64(): bigint;
  real32(): number;
  real64(): number;
  boolean(): boolean;
  string(): string;
  blob(maxBytes: number): Uint8Array;
  enumerator<E extends Enumeration>(of: E, type: EnumBase): EnumeratorOf<E>;
  struct<T>(of: StructCodec<T>): T;
  vector<T>(element: () => T): T[];
}
