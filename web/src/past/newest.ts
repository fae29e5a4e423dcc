import type { Metric, Value } from '@oasis/wire';
import { NONE, type RecordRow } from '../series/records.ts';
import { isFields, listOf } from '../wire/fields.ts';
import { fromJson, type JsonSample } from '../wire/json_batch.ts';
import type { RequestKind } from './reads.ts';

/** The newest samples before a time, for lists and values of the past. */

export interface NewestRequest {
  /** The samples are older than this; milliseconds by the node's clock, infinity for the newest of all. */
  readonly before: number;
  /** Number of samples. */
  readonly samples: number;
  /** Later samples to read with them, because they are asked for next: for so many milliseconds, so many at most. */
  readonly ahead?: { readonly time: number; readonly samples: number };
  /** Whether to read the bytes of files, too. */
  readonly hasBlobs?: boolean;
}

/** A sample, and why others are missing before it if the DAC says so. */
export type StoredSample = JsonSample & { readonly cause?: string };

/** Samples in the format of the text doors, oldest first. */
export interface NewestSamples {
  readonly samples: readonly StoredSample[];
  /** Whether there may be older samples. */
  readonly isCut: boolean;
  /** They are all that are older than this, the oldest ones apart. */
  readonly before: number;
}

const MICROSECOND = 1000n;

export const newestKind: RequestKind<NewestRequest, NewestSamples> = {
  widen: (request) => request,
  path({ node, instance }, request, halvings) {
    const { before, samples } = reachOf(request, halvings);
    const query = new URLSearchParams({ node, instance, last: String(samples), integers: 'string' });
    if (request.hasBlobs === true) query.set('blobs', 'base64');
    if (Number.isFinite(before)) query.set('to', `${nanos(before)}ns`);
    return `api/v1/samples?${query}`;
  },
  parse(answer, _, request, halvings) {
    if (!isFields(answer) || !Array.isArray(answer.messages)) return undefined;
    const { before, samples: wanted } = reachOf(request, halvings);
    // The oldest samples come first, so a truncated answer lacks the newest. Without an end there are always more.
    if (answer.more === true && Number.isFinite(before)) return 'too-much';
    const samples = samplesIn(answer.messages);
    const found = { samples, isCut: samples.length >= wanted, before };
    // There were more later samples than room for them.
    return before > request.before && !contains(found, request) ? 'too-much' : found;
  },
  covers: (answered, request) => answered.before === request.before && answered.samples >= request.samples,
  // Lists want to know whether there are older samples than theirs, so they ask for exactly these.
  contains: (found, request) => request.ahead !== undefined && contains(found, request),
};

/** Samples, the first one after each gap with its cause. */
function samplesIn(messages: unknown): StoredSample[] {
  let cause: string | undefined;
  return listOf(messages).flatMap((message) => {
    if (message.event === 'gap') cause ??= String(message.cause);
    const [first, ...others] = listOf(message.samples).filter(isSample);
    if (!first) return [];
    if (Number(message.dropped_before) > 0) cause ??= 'node_dropped';
    const marked: StoredSample = cause === undefined ? first : { ...first, cause };
    cause = undefined;
    return [marked, ...others];
  });
}

/** Returns what is asked of the DAC: later samples only until they were too many. */
function reachOf({ before, samples, ahead }: NewestRequest, halvings: number) {
  if (!ahead || halvings > 0) return { before, samples: most(samples, halvings) };
  return { before: before + ahead.time, samples: samples + ahead.samples };
}

/** Whether there are all samples that the request wants. */
function contains(found: NewestSamples, request: NewestRequest): boolean {
  if (request.before > found.before) return false;
  return !found.isCut || countBefore(found.samples, request.before) >= request.samples;
}

/** Returns how many samples, which are in the order of time, are older than a time. */
export function countBefore(samples: readonly JsonSample[], before: number): number {
  let [low, high] = [0, samples.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeOf(samples[middle]) < before) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Converts samples to list rows, oldest first. A metric that the sample's type did not have is empty. */
export function rowsOf(samples: readonly JsonSample[], metrics: readonly Metric[]): RecordRow[] {
  return samples.map(({ sequence, time, metrics: values }) => ({
    sequence: Number(sequence),
    time: timeOf({ time }),
    values: metrics.map((metric) => valueIn(metric, values[metric.name])),
  }));
}

/** Returns the time of a sample, milliseconds by the node's clock. */
export function timeOf({ time }: Pick<JsonSample, 'time'>): number {
  return Number(time) / 1e6;
}

function valueIn({ type }: Metric, json: unknown): Value {
  if (json === undefined || json === null) return NONE;
  try {
    return fromJson(type, json);
  } catch {
    return NONE;
  }
}

function most(samples: number, halvings: number): number {
  return Math.max(1, samples >> halvings);
}

function isSample(fields: Record<string, unknown>): fields is Record<string, unknown> & JsonSample {
  return typeof fields.time === 'string' && isFields(fields.metrics);
}

/** Converts to nanoseconds; a double is not exact enough. */
function nanos(ms: number): bigint {
  return BigInt(Math.max(0, Math.round(ms * 1000))) * MICROSECOND;
}
