import { enumeratorOf, isStruct, isVector, type Metric, type MetricType, type Schema } from '@oasis/wire';
import { csvLine } from '../charts/save_file.ts';
import { isFields } from '../wire/fields.ts';
import type { JsonSample, SamplesMessage } from '../wire/json_batch.ts';

/** Samples as lines of text, as `oasis export` writes them. 64-bit integers arrive as texts and are exact. */

export type ExportFormat = TextFormat | DacFormat;
/** What the page writes itself. */
export type TextFormat = 'csv' | 'jsonl';
/** What the DAC writes. */
export type DacFormat = 'arrow' | 'parquet' | 'mcap';
export const exportFormats: readonly ExportFormat[] = ['csv', 'jsonl', 'arrow', 'parquet', 'mcap'];

export function isText(format: ExportFormat): format is TextFormat {
  return format === 'csv' || format === 'jsonl';
}

/** Whether a format puts several instances into one file. */
export function isShared(format: ExportFormat): boolean {
  return format === 'jsonl' || format === 'mcap';
}

/** Writes the samples of one instance. */
export interface LineWriter {
  /** The first line, if the format has one. */
  readonly head: string;
  lines(message: SamplesMessage): string;
}

export function lineWriter(format: TextFormat, schema: Schema): LineWriter {
  return format === 'csv' ? csvWriter(schema) : jsonWriter(schema);
}

const FIXED = ['node', 'instance', 'time', 'time_ns', 'sequence', 'state'];

function csvWriter({ metrics }: Schema): LineWriter {
  const columns = metrics.flatMap((metric) =>
    columnsOf(metric, metric.name, (values) => values[metric.name]),
  );
  return {
    head: csvLine([...FIXED, ...unique(columns.map(({ name }) => name))]),
    lines: ({ node, instance, samples }) =>
      samples
        .map(({ time, sequence, state, metrics: values }) =>
          csvLine([
            ...[node, instance, isoTime(time), time, sequence, String(state)],
            ...columns.map(({ cell }) => cell(values)),
          ]),
        )
        .join(''),
  };
}

interface Column {
  readonly name: string;
  cell(values: JsonSample['metrics']): string;
}

/** A column for each member of a struct; a vector is one column, as JSON. */
function columnsOf(
  metric: Metric,
  name: string,
  read: (values: JsonSample['metrics']) => unknown,
): readonly Column[] {
  const { type } = metric;
  if (isStruct(type)) {
    return type.struct.members.flatMap((member) =>
      columnsOf(member, `${name}.${member.name}`, (values) => {
        const of = read(values);
        return isFields(of) ? of[member.name] : undefined;
      }),
    );
  }
  return [{ name, cell: (values) => cellOf(metric, read(values)) }];
}

function cellOf({ type, enum: names }: Metric, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (isVector(type)) return jsonOf(type, value);
  return enumeratorOf(names, value)?.name ?? String(value);
}

/** Names that are taken get a number, as tables.md says. */
function unique(names: readonly string[]): string[] {
  const taken = new Set(FIXED);
  return names.map((name) => {
    let found = name;
    for (let number = 2; taken.has(found.toLowerCase()); number++) found = `${name}_${number}`;
    taken.add(found.toLowerCase());
    return found;
  });
}

function jsonWriter({ metrics }: Schema): LineWriter {
  return {
    head: '',
    lines: ({ node, instance, samples }) =>
      samples
        .map(({ time, sequence, state, metrics: values }) => {
          const found = metrics
            .filter(({ name }) => values[name] !== undefined)
            .map(({ name, type }) => `${JSON.stringify(name)}:${jsonOf(type, values[name])}`);
          const names = `"node":${JSON.stringify(node)},"instance":${JSON.stringify(instance)}`;
          return `{${names},"sequence":${digits(sequence)},"time":${digits(time)},"state":${Number(state)},"metrics":{${found.join(',')}}}\n`;
        })
        .join(''),
  };
}

/** Writes a value with integers as numbers, whatever their size. */
function jsonOf(type: MetricType, value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (isVector(type)) {
    const of = Array.isArray(value) ? value : [];
    return `[${of.map((element) => jsonOf(type.vector, element)).join(',')}]`;
  }
  if (isStruct(type)) {
    const of = isFields(value) ? value : {};
    const members = type.struct.members.map(
      ({ name, type: member }) => `${JSON.stringify(name)}:${jsonOf(member, of[name])}`,
    );
    return `{${members.join(',')}}`;
  }
  return type === 'int64' || type === 'uint64' ? digits(value) : JSON.stringify(value);
}

/** What is no integer is no number that JSON could have. */
function digits(value: unknown): string {
  const text = String(value);
  return /^-?\d{1,20}$/.test(text) ? text : JSON.stringify(text);
}

/** RFC 3339 in UTC, to the nanosecond. */
export function isoTime(nanos: string): string {
  const ms = Number(BigInt(nanos) / 1_000_000n);
  const fraction = String(BigInt(nanos) % 1_000_000_000n).padStart(9, '0');
  return `${new Date(ms).toISOString().slice(0, 19)}.${fraction}Z`;
}
