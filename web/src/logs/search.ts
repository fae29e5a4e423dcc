import { askWhenFree } from '../api/ask_when_free.ts';
import { type Fields, isFields, listOf } from '../wire/fields.ts';
import { keyOf, type Target } from '../wire/target.ts';

/** Longest wait for a page: it may read a gibibyte. */
const PATIENCE_MS = 60_000;

/** A record that a search has found (http-api.md). */
export interface LogRecord extends Target {
  /** Of its instance, run and sequence number. */
  readonly key: string;
  readonly type: string;
  /** Milliseconds since 1970 on the clock of its node. */
  readonly time: number;
  /** The same in nanoseconds. */
  readonly nanos: bigint;
  readonly sequence: string;
  /** Values by the names of the metrics. */
  readonly values: Fields;
}

export interface LogPage {
  readonly records: readonly LogRecord[];
  /** Samples that were looked at. */
  readonly searched: number;
  /** Batches that could not be read. */
  readonly unreadable: number;
  /** Instances whose past is at other DACs. */
  readonly notSearched: number;
  /** How far the search has come, in milliseconds; undefined if it has come to the end. */
  readonly reached: number | undefined;
  /** Where the next page begins; undefined at the end. */
  readonly next: string | undefined;
}

export interface LogFilter {
  readonly text: string;
  /** The least level; empty for all records. */
  readonly level: string;
  /** `NAME=VALUE`. */
  readonly fields: readonly string[];
  /** None for all instances. */
  readonly targets: readonly Target[];
  /** Nanoseconds since 1970. */
  readonly from?: bigint;
  readonly until?: bigint;
  readonly order?: 'newest' | 'oldest';
}

/** Reads a page of records. */
export async function searchRecords(
  filter: LogFilter,
  limit: number,
  after?: string,
  signal?: AbortSignal,
): Promise<LogPage> {
  const body = requestOf(filter, limit, after);
  return parseLogPage(
    await askWhenFree('search', { body, patience: PATIENCE_MS, ...(signal && { signal }) }),
  );
}

/** The body of a request. Times go as numbers, which lose less than a microsecond. */
export function requestOf(filter: LogFilter, limit: number, after?: string): Fields {
  const { text, level, fields, targets, from, until, order } = filter;
  return {
    text: text.trim(),
    ...(level !== '' && { level }),
    ...(fields.length > 0 && { fields }),
    ...(targets.length > 0 && {
      instances: targets.map(({ node, instance }) => ({ node, instance })),
    }),
    ...(from !== undefined && { from: Number(from) }),
    ...(until !== undefined && { until: Number(until) }),
    ...(order && { order }),
    ...(after !== undefined && { after }),
    limit,
    integers: 'string',
  };
}

export function parseLogPage(answer: unknown): LogPage {
  const fields = isFields(answer) ? answer : {};
  const { next, reached } = fields;
  return {
    records: listOf(fields.records).flatMap((record) => parseRecord(record) ?? []),
    searched: count(fields.searched),
    unreadable: count(fields.unreadable),
    notSearched: count(fields.not_searched),
    reached: typeof reached === 'string' ? Number(reached) / 1e6 : undefined,
    next: typeof next === 'string' ? next : undefined,
  };
}

function parseRecord(json: Fields): LogRecord | undefined {
  const { node, instance, run, sequence, time, type, metrics } = json;
  if (typeof time !== 'string' || !/^\d{1,20}$/.test(time) || !isFields(metrics)) return undefined;
  const target = { node: String(node), instance: String(instance) };
  return {
    ...target,
    key: `${run} ${sequence} ${keyOf(target)}`,
    type: String(type),
    time: Number(time) / 1e6,
    nanos: BigInt(time),
    sequence: String(sequence),
    values: metrics,
  };
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
