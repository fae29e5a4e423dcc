import { enumeratorOf, isStruct, isVector, type Metric, type Value } from '@oasis/wire';
import { durationSize } from '../format/unit.ts';
import type { RecordLine } from '../stream/query.ts';
import { areSpans } from './are_spans.ts';

/** A piece of work that a program has done. Times are milliseconds by the browser's clock. */
export interface Span {
  /** Key of the instance that reported it. */
  readonly key: string;
  readonly sequence: number;
  readonly name: string;
  readonly target: string;
  readonly thread: string;
  readonly start: number;
  readonly end: number;
  /** The part in which a thread was at it, milliseconds. */
  readonly busy: number | undefined;
  readonly isFailed: boolean;
  /** Number among the spans of the program; 0 if it has none. */
  readonly id: string;
  /** Number of the span that it is a part of; 0 if of none. */
  readonly parent: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

const NOTHING = '0';

/** Reads the spans of records; others are left out. */
export function spansOf(lines: readonly RecordLine[], metricsOf: (key: string) => readonly Metric[]): Span[] {
  const readers = new Map<string, ((line: RecordLine) => Span) | undefined>();
  return lines.flatMap((line) => {
    if (!readers.has(line.key)) readers.set(line.key, readerOf(metricsOf(line.key)));
    return readers.get(line.key)?.(line) ?? [];
  });
}

function readerOf(metrics: readonly Metric[]): ((line: RecordLine) => Span) | undefined {
  if (!areSpans(metrics)) return undefined;
  const place = (name: string) => metrics.findIndex((metric) => metric.name === name);
  const places = Object.fromEntries(
    ['name', 'target', 'thread', 'duration', 'busy', 'outcome', 'id', 'parent', 'fields'].map((name) => [
      name,
      place(name),
    ]),
  );
  const milliseconds = 1000 * (durationSize(metrics[places.duration].unit) ?? 1e-9);
  const outcome = metrics[places.outcome]?.enum;
  return ({ key, sequence, time, values }) => {
    const value = (name: string): Value | undefined => values[places[name]];
    const text = (name: string) => (value(name) === undefined ? '' : String(value(name)));
    const duration = Math.max(0, Number(value('duration') ?? 0) * milliseconds) || 0;
    const busy = value('busy');
    const ended = value('outcome');
    return {
      key,
      sequence,
      name: text('name'),
      target: text('target'),
      thread: text('thread'),
      start: time - duration,
      end: time,
      busy: busy === undefined ? undefined : Number(busy) * milliseconds,
      isFailed: ended !== undefined && enumeratorOf(outcome, ended)?.name === 'ERROR',
      id: text('id') || NOTHING,
      parent: text('parent') || NOTHING,
      fields: fieldsOf(metrics[places.fields], value('fields')),
    };
  };
}

function fieldsOf(metric: Metric | undefined, value: Value | undefined): (readonly [string, string])[] {
  if (!metric || !isVector(metric.type) || !isStruct(metric.type.vector) || !Array.isArray(value)) return [];
  return value.flatMap((field) =>
    Array.isArray(field) ? [[String(field[0]), String(field[1])] as const] : [],
  );
}
