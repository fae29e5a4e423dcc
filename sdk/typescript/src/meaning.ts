/** The meaning of a metric's numbers: names of an enum, range, limits of warnings and alarms. */

export interface Enumerator {
  readonly name: string;
  readonly value: number;
  readonly doc?: string;
}

export interface EnumType {
  readonly name: string;
  readonly values: readonly Enumerator[];
}

/** A limit: a value exceeds it if it is below, above, or one of these. */
export interface Threshold {
  readonly below?: number;
  readonly above?: number;
  readonly values?: readonly number[];
}

export interface Meaning {
  readonly enum?: EnumType;
  readonly min?: number;
  readonly max?: number;
  readonly warn?: Threshold;
  readonly alarm?: Threshold;
}

/** Returns the parts that are valid: a metric can be shown without a meaning. */
export function parseMeaning(metric: Record<string, unknown>): Meaning {
  return {
    ...present('enum', parseEnum(metric.enum)),
    ...present('min', finite(metric.min)),
    ...present('max', finite(metric.max)),
    ...present('warn', parseThreshold(metric.warn)),
    ...present('alarm', parseThreshold(metric.alarm)),
  };
}

/** The severity of a value. */
export interface Judgement {
  readonly severity: 'warn' | 'alarm';
  /** Reason for people: `above 80`. */
  readonly because: string;
}

/** Returns whether a value deserves an alarm or a warning; a value outside its metric's range deserves a warning, too. */
export function judge(meaning: Meaning, value: unknown): Judgement | undefined {
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined;
  const alarm = passed(meaning.alarm, value, meaning.enum);
  if (alarm) return { severity: 'alarm', because: alarm };
  const range = { ...present('below', meaning.min), ...present('above', meaning.max) };
  const warn = passed(meaning.warn, value, meaning.enum) ?? passed(range, value, undefined);
  return warn ? { severity: 'warn', because: warn } : undefined;
}

function passed(
  threshold: Threshold | undefined,
  value: number | bigint,
  names: EnumType | undefined,
): string | undefined {
  if (threshold?.below !== undefined && value < threshold.below) return `below ${threshold.below}`;
  if (threshold?.above !== undefined && value > threshold.above) return `above ${threshold.above}`;
  if (threshold?.values?.some((known) => known === value))
    return enumeratorOf(names, value)?.name ?? `${value}`;
  return undefined;
}

/** Returns the name of an enum's number; undefined if the enum does not declare it. */
export function enumeratorOf(type: EnumType | undefined, value: unknown): Enumerator | undefined {
  return type?.values.find((enumerator) => enumerator.value === value);
}

function parseEnum(json: unknown): EnumType | undefined {
  if (!isRecord(json) || typeof json.name !== 'string' || !Array.isArray(json.values)) return undefined;
  return { name: json.name, values: json.values.flatMap(parseEnumerator) };
}

function parseEnumerator(json: unknown): Enumerator[] {
  if (!isRecord(json) || typeof json.name !== 'string') return [];
  const value = finite(json.value);
  if (value === undefined) return [];
  return [{ name: json.name, value, ...(typeof json.doc === 'string' && { doc: json.doc }) }];
}

function parseThreshold(json: unknown): Threshold | undefined {
  if (!isRecord(json)) return undefined;
  const values = Array.isArray(json.values)
    ? json.values.filter((value) => typeof value === 'number')
    : undefined;
  return {
    ...present('below', finite(json.below)),
    ...present('above', finite(json.above)),
    ...present('values', values),
  };
}

function present<K extends string, V>(key: K, value: V | undefined): { [key in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [key in K]?: V });
}

function finite(json: unknown): number | undefined {
  return typeof json === 'number' && Number.isFinite(json) ? json : undefined;
}

function isRecord(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
