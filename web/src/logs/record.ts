import type { Metric } from '@oasis/wire';
import { isFields } from '../wire/fields.ts';
import type { LogRecord } from './search.ts';

/** Texts that a record is about. */
const MAIN = /^(message|text|name)$/i;
const LEVEL = /^(level|severity)$/i;
/** Severities of OpenTelemetry, for records whose type is not known. */
const SEVERITIES: readonly (readonly [number, string])[] = [
  [21, 'FATAL'],
  [17, 'ERROR'],
  [13, 'WARN'],
  [9, 'INFO'],
  [5, 'DEBUG'],
  [1, 'TRACE'],
];

/** The levels that a search can ask for. */
export const LEVELS: readonly string[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

/** A record as it is shown. */
export interface ShownRecord {
  /** Its level by name; empty without one. */
  readonly level: string;
  readonly severity: '' | 'warn' | 'alarm';
  /** What it says; empty if its type has no such text. */
  readonly message: string;
  /** Everything else that is not empty. */
  readonly details: readonly Detail[];
}

export interface Detail {
  readonly name: string;
  readonly value: string;
}

/** Arranges the values of a record. The metrics of its type, if they are known, name the values of enums. */
export function shownRecord(record: LogRecord, metrics: readonly Metric[]): ShownRecord {
  let [level, message] = ['', ''];
  let severity: ShownRecord['severity'] = '';
  const details: Detail[] = [];
  for (const [name, value] of Object.entries(record.values)) {
    const metric = metrics.find((known) => known.name === name);
    if (LEVEL.test(name)) {
      level = levelOf(metric, value);
      severity = severityOf(value);
    } else if (message === '' && MAIN.test(name) && typeof value === 'string') message = value;
    else details.push(...detailsOf(name, value, metric));
  }
  return { level, severity, message, details };
}

function levelOf(metric: Metric | undefined, value: unknown): string {
  const number = Number(value);
  const named = enumName(metric, value);
  return named ?? SEVERITIES.find(([least]) => number >= least)?.[1] ?? String(value);
}

function severityOf(value: unknown): ShownRecord['severity'] {
  const number = Number(value);
  if (number >= 17) return 'alarm';
  return number >= 13 ? 'warn' : '';
}

function detailsOf(name: string, value: unknown, metric: Metric | undefined): Detail[] {
  // An empty text, a list without entries, or 0, which stands for an unknown line or no parent.
  if (value === '' || value === 0 || value === '0') return [];
  if (!Array.isArray(value)) return [{ name, value: enumName(metric, value) ?? textOf(value) }];
  if (value.every((entry) => isFields(entry) && typeof entry.name === 'string' && 'value' in entry))
    return value.map((entry) => ({ name: entry.name, value: textOf(entry.value) }));
  return value.length === 0 ? [] : [{ name, value: textOf(value) }];
}

function enumName(metric: Metric | undefined, value: unknown): string | undefined {
  return metric?.enum?.values.find((named) => String(named.value) === String(value))?.name;
}

function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
