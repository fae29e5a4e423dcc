import { isFields, listOf } from '../wire/fields.ts';

/** A value of a row: integers are texts, so that none of their digits is lost. */
export type Cell = string | number | null;

export interface SqlResult {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** Whether the answer is cut at its bounds. */
  readonly more: boolean;
}

/** A table that may be queried. */
export interface SqlTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/** What a result can be drawn as. */
export type Drawable =
  | {
      readonly kind: 'lines';
      /** Milliseconds since 1970, ascending. */
      readonly times: readonly number[];
      readonly lines: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
    }
  | {
      readonly kind: 'bars';
      readonly name: string;
      readonly bars: readonly { readonly label: string; readonly value: number | null }[];
    };

/** Lines and bars that are drawn at most. */
const MAX_LINES = 10;
const MAX_BARS = 200;
const INTEGER = /^-?\d+$/;
const NUMBER = /^-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Infinity)$/i;
const DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

export function parseResult(answer: unknown): SqlResult | undefined {
  if (!isFields(answer) || !Array.isArray(answer.columns) || !Array.isArray(answer.rows)) return undefined;
  const columns = answer.columns.map(String);
  const rows = answer.rows.flatMap((row: unknown) =>
    Array.isArray(row) && row.length === columns.length ? [row.map(cellOf)] : [],
  );
  return { columns, rows, more: answer.more === true };
}

export function parseTables(answer: unknown): SqlTable[] {
  return listOf(isFields(answer) ? answer.tables : undefined).map(({ name, columns }) => ({
    name: String(name),
    columns: listOf(columns).map((column) => String(column.name)),
  }));
}

function cellOf(value: unknown): Cell {
  if (value === null || typeof value === 'number' || typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Whether all known values of a column are numbers, and there is one. */
export function isNumeric({ rows }: SqlResult, column: number): boolean {
  let isKnown = false;
  for (const row of rows) {
    const value = row[column];
    if (value === null) continue;
    if (typeof value === 'string' && !NUMBER.test(value)) return false;
    isKnown = true;
  }
  return isKnown;
}

/** Returns how a result is drawn: numbers over time, or a number for each name; undefined without numbers. */
export function drawableOf(result: SqlResult): Drawable | undefined {
  const { columns, rows } = result;
  const time = columns.findIndex((_, column) => isTime(result, column));
  const numeric = [...columns.keys()].filter((column) => column !== time && isNumeric(result, column));
  // Beside numbers over time, times again would be a line.
  const values = numeric.filter((column) => !isTime(result, column));
  if (values.length === 0) return undefined;
  if (time >= 0) {
    const sorted = rows
      .map((row) => ({ row, at: timeOf(row[time]) }))
      .filter(({ at }) => Number.isFinite(at))
      .sort((one, other) => one.at - other.at);
    return {
      kind: 'lines',
      times: sorted.map(({ at }) => at),
      lines: values.slice(0, MAX_LINES).map((column) => ({
        name: columns[column],
        values: sorted.map(({ row }) => numberOf(row[column])),
      })),
    };
  }
  const [value] = values;
  const names = [...columns.keys()].filter((column) => !numeric.includes(column));
  return {
    kind: 'bars',
    name: columns[value],
    bars: rows.slice(0, MAX_BARS).map((row, index) => ({
      label: names.length === 0 ? String(index + 1) : names.map((name) => String(row[name] ?? '')).join(' '),
      value: numberOf(row[value]),
    })),
  };
}

/** A column of dates, or of nanoseconds by its name. */
function isTime(result: SqlResult, column: number): boolean {
  const known = result.rows.flatMap((row) => row[column] ?? []);
  if (known.length === 0) return false;
  if (known.every((value) => typeof value === 'string' && DATE.test(value) && !INTEGER.test(value)))
    return true;
  return /(?:^|_)ns$/i.test(result.columns[column]) && isNumeric(result, column);
}

/** Milliseconds since 1970. A date without a zone is one of UTC, as in the tables. */
function timeOf(value: Cell): number {
  if (value === null) return Number.NaN;
  if (typeof value === 'number' || INTEGER.test(value)) return Number(value) / 1e6;
  const iso = value.replace(' ', 'T').replace(/T(\d\d)$/, 'T$1:00');
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/.test(iso.slice(10));
  // Dates have milliseconds only.
  const short = iso.replace(/(\.\d{3})\d+/, '$1');
  return Date.parse(hasZone || !iso.includes('T') ? short : `${short}Z`);
}

/** Infinite values are values; what is no number is none. */
function numberOf(value: Cell): number | null {
  const number = value === null ? Number.NaN : Number(value);
  return Number.isNaN(number) ? null : number;
}
