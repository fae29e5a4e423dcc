/** The schema that travels with registration (docs/reference/schema.md). */

import { type Meaning, parseMeaning } from './meaning.ts';

export type IntegerType = 'int8' | 'int16' | 'int32' | 'int64' | 'uint8' | 'uint16' | 'uint32' | 'uint64';
export type RealType = 'real32' | 'real64';
export type ScalarType = IntegerType | RealType | 'boolean' | 'string';
export interface VectorType {
  readonly vector: MetricType;
}
export interface StructType {
  readonly struct: { readonly name: string; readonly members: readonly Metric[] };
}
/** A file as bytes. Only a whole metric can be one. */
export interface BlobType {
  readonly blob: { readonly media_type: MediaType; readonly max_bytes: number };
}
export type MetricType = ScalarType | VectorType | StructType | BlobType;

/** Formats of files that can be samples. */
export type MediaType = 'image/jpeg' | 'image/png';

/** Largest bound of a blob, in bytes. */
export const MAX_BLOB_BYTES = 480 * 1024;

export interface Metric extends Meaning {
  readonly name: string;
  readonly type: MetricType;
  readonly unit?: string;
  readonly kind?: string;
  readonly label?: string;
  readonly doc?: string;
}

/** Sampling rate of a probe. */
export interface Rate {
  /** The rate follows the demand of readers, between these rates in hertz. */
  readonly demand?: DemandRange;
}

export interface DemandRange {
  readonly min: number;
  readonly max: number;
}

export interface Schema {
  readonly name: string;
  readonly uuid: string;
  readonly version: string;
  readonly doc?: string;
  readonly rate?: Rate;
  readonly metrics: readonly Metric[];
}

/** Deepest nesting of vectors and structs that a batch may carry. */
export const MAX_DEPTH = 16;

const WIDTHS: Readonly<Partial<Record<ScalarType, number>>> = {
  int8: 1,
  int16: 2,
  int32: 4,
  int64: 8,
  uint8: 1,
  uint16: 2,
  uint32: 4,
  uint64: 8,
  real32: 4,
  real64: 8,
  boolean: 1,
};

/** Returns the size of a value in bytes; undefined if it varies. */
export function widthOf(type: MetricType): number | undefined {
  return typeof type === 'string' ? WIDTHS[type] : undefined;
}

export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

const SCALARS: ReadonlySet<string> = new Set([...Object.keys(WIDTHS), 'string']);

export function isVector(type: MetricType): type is VectorType {
  return typeof type === 'object' && 'vector' in type;
}

export function isStruct(type: MetricType): type is StructType {
  return typeof type === 'object' && 'struct' in type;
}

export function isBlob(type: MetricType): type is BlobType {
  return typeof type === 'object' && 'blob' in type;
}

/** Parses a schema from the wire and checks all of it. */
export function parseSchema(json: unknown): Schema {
  const schema = record(json, 'schema');
  return {
    name: text(schema.name, 'schema.name'),
    uuid: text(schema.uuid, 'schema.uuid'),
    version: text(schema.version, 'schema.version'),
    ...optional(schema, ['doc']),
    ...rate(schema.rate),
    metrics: metrics(schema.metrics, 'schema.metrics', 0),
  };
}

export function parseType(json: unknown, where = 'type', depth = 0): MetricType {
  if (typeof json === 'string') {
    if (SCALARS.has(json)) return json as ScalarType;
    throw new SchemaError(`${where}: unknown type ${JSON.stringify(json)}`);
  }
  if (depth >= MAX_DEPTH) throw new SchemaError(`${where}: nested too deeply`);
  const type = record(json, where);
  if ('vector' in type) {
    const element = parseType(type.vector, `${where}.vector`, depth + 1);
    if (isEmpty(element)) throw new SchemaError(`${where}: a vector of empty structs`);
    return { vector: element };
  }
  if ('blob' in type) return blob(type.blob, `${where}.blob`, depth);
  const struct = record(type.struct, `${where}.struct`);
  return {
    struct: {
      name: text(struct.name, `${where}.struct.name`),
      members: metrics(struct.members, `${where}.struct.members`, depth + 1),
    },
  };
}

function blob(json: unknown, where: string, depth: number): BlobType {
  if (depth > 0) throw new SchemaError(`${where}: a blob within a vector or a struct`);
  const { media_type, max_bytes } = record(json, where);
  if (media_type !== 'image/jpeg' && media_type !== 'image/png')
    throw new SchemaError(`${where}.media_type: unknown media type ${JSON.stringify(media_type)}`);
  if (typeof max_bytes !== 'number' || !(max_bytes >= 1 && max_bytes <= MAX_BLOB_BYTES))
    throw new SchemaError(`${where}.max_bytes is not a number from 1 to ${MAX_BLOB_BYTES}`);
  return { blob: { media_type, max_bytes } };
}

/** Whether values of this type take no bytes. */
function isEmpty(type: MetricType): boolean {
  return isStruct(type) && type.struct.members.every((member) => isEmpty(member.type));
}

function metrics(json: unknown, where: string, depth: number): Metric[] {
  if (!Array.isArray(json)) throw new SchemaError(`${where} is not a list`);
  return json.map((entry: unknown, index) => {
    const metric = record(entry, `${where}[${index}]`);
    return {
      name: text(metric.name, `${where}[${index}].name`),
      type: parseType(metric.type, `${where}[${index}].type`, depth),
      ...optional(metric, ['unit', 'kind', 'label', 'doc']),
      ...parseMeaning(metric),
    };
  });
}

/** Returns the parts that are valid: a probe can be shown without a rate. */
function rate(json: unknown): { rate?: Rate } {
  const demand = isRecord(json) ? parseDemandRange(json.demand) : undefined;
  return demand ? { rate: { demand } } : {};
}

/** Two rates in hertz, the first not above the second. */
export function parseDemandRange(json: unknown): DemandRange | undefined {
  if (!isRecord(json)) return undefined;
  const { min, max } = json;
  return typeof min === 'number' && typeof max === 'number' && min > 0 && min <= max
    ? { min, max }
    : undefined;
}

function optional(source: Record<string, unknown>, keys: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const key of keys) {
    const value = source[key];
    if (typeof value === 'string') found[key] = value;
  }
  return found;
}

function isRecord(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

function record(json: unknown, where: string): Record<string, unknown> {
  if (isRecord(json)) return json;
  throw new SchemaError(`${where} is not an object`);
}

function text(json: unknown, where: string): string {
  if (typeof json === 'string') return json;
  throw new SchemaError(`${where} is not a string`);
}
