import { fetchJson } from '../api/api.ts';
import { type Fields, isFields, listOf } from '../wire/fields.ts';
import type { Target } from '../wire/target.ts';
import {
  type AlarmState,
  alarmKey,
  numberIn,
  SEVERITIES,
  type Severity,
  severityIn,
  textIn,
  timeIn,
} from './alarm.ts';

/** Kinds of entries: what rules find, and what people do. */
export const ENTRY_KINDS = [
  'raised',
  'cleared',
  'unknown',
  'known',
  'matched',
  'violated',
  'satisfied',
  'acknowledged',
  'shelved',
  'unshelved',
  'suppressed',
  'unsuppressed',
  'out_of_service',
  'in_service',
  'rule_removed',
  'moved',
  'taken_over',
] as const;

/** An entry of the journal (http-api.md). Times are milliseconds since 1970. */
export interface Entry extends Target {
  readonly id: string;
  /** Of rule, node and instance. */
  readonly key: string;
  readonly rule: string;
  /** Clock of the node. */
  readonly time: number;
  readonly dacTime: number | undefined;
  readonly kind: string;
  readonly state: AlarmState | undefined;
  readonly severity: Severity | undefined;
  readonly isKnown: boolean;
  readonly value: number | undefined;
  readonly limit: number | undefined;
  readonly unit: string | undefined;
  readonly sequence: number | undefined;
  readonly since: number | undefined;
  readonly missing: number | undefined;
  readonly cause: string;
  readonly isLate: boolean;
  readonly principal: string;
  readonly comment: string;
}

export interface JournalPage {
  /** Newest first. */
  readonly entries: readonly Entry[];
  /** Where older entries follow. */
  readonly next: string | undefined;
}

export interface JournalFilter {
  readonly rule?: string;
  readonly node?: string;
  readonly instance?: string;
  readonly kind?: string;
  /** Milliseconds since 1970. */
  readonly from?: number;
  readonly to?: number;
}

/** Reads entries, newest first. */
export async function readJournal(
  { from, to, ...filter }: JournalFilter,
  limit: number,
  after?: string,
  signal?: AbortSignal,
): Promise<JournalPage> {
  const query = new URLSearchParams({ limit: String(limit) });
  for (const [name, value] of Object.entries(filter)) if (value?.trim()) query.set(name, value.trim());
  if (from !== undefined) query.set('from', nanos(from));
  if (to !== undefined) query.set('to', nanos(to));
  if (after !== undefined) query.set('after', after);
  return parseJournal(await fetchJson('GET', `alarms/journal?${query}`, { ...(signal && { signal }) }));
}

export function parseJournal(answer: unknown): JournalPage {
  if (!isFields(answer)) return { entries: [], next: undefined };
  const { next } = answer;
  return {
    entries: listOf(answer.entries).flatMap((entry) => parseEntry(entry) ?? []),
    next: typeof next === 'string' || typeof next === 'number' ? String(next) : undefined,
  };
}

function parseEntry(json: Fields): Entry | undefined {
  const { id, rule, node, instance, kind, state } = json;
  const time = timeIn(json, 'time') ?? timeIn(json, 'dac_time');
  if (typeof rule !== 'string' || typeof kind !== 'string' || time === undefined) return undefined;
  const target = { node: String(node ?? ''), instance: String(instance ?? '') };
  return {
    id: String(id),
    key: alarmKey(rule, target),
    rule,
    ...target,
    time,
    dacTime: timeIn(json, 'dac_time'),
    kind,
    state: state === 'active' || state === 'latched' || state === 'normal' ? state : undefined,
    severity: json.severity === undefined || json.severity === null ? undefined : severityIn(json),
    isKnown: json.quality !== 'unknown',
    value: numberIn(json, 'value'),
    limit: numberIn(json, 'limit'),
    unit: textIn(json, 'unit') || undefined,
    sequence: numberIn(json, 'sequence'),
    since: timeIn(json, 'since'),
    missing: numberIn(json, 'missing'),
    cause: textIn(json, 'cause'),
    isLate: json.late === true,
    principal: textIn(json, 'principal'),
    comment: textIn(json, 'comment'),
  };
}

/** Figures of ISA-18.2: how many alarms people get, and which ones come too often or stay too long. */
export interface Statistics {
  readonly standing: Readonly<Record<Severity, number>>;
  readonly raised: { readonly tenMinutes: number; readonly hour: number; readonly day: number };
  /** Alarms that were raised most often, with how often. */
  readonly frequent: readonly RankedAlarm[];
  /** Alarms that have been raised longest, with since when. */
  readonly longest: readonly RankedAlarm[];
}

export interface RankedAlarm extends Target {
  readonly rule: string;
  readonly count: number | undefined;
  readonly since: number | undefined;
}

export async function readStatistics(signal?: AbortSignal): Promise<Statistics> {
  return parseStatistics(await fetchJson('GET', 'alarms/statistics', { ...(signal && { signal }) }));
}

export function parseStatistics(answer: unknown): Statistics {
  const json = isFields(answer) ? answer : {};
  const standing = isFields(json.standing) ? json.standing : {};
  const raised = isFields(json.raised) ? json.raised : {};
  return {
    standing: Object.fromEntries(
      SEVERITIES.map((severity) => [severity, numberIn(standing, severity) ?? 0]),
    ) as Record<Severity, number>,
    raised: {
      tenMinutes: numberIn(raised, 'ten_minutes') ?? 0,
      hour: numberIn(raised, 'hour') ?? 0,
      day: numberIn(raised, 'day') ?? 0,
    },
    frequent: listOf(json.most_frequent).map(rankedOf),
    longest: listOf(json.longest_standing).map(rankedOf),
  };
}

function rankedOf(json: Fields): RankedAlarm {
  return {
    rule: textIn(json, 'rule'),
    node: textIn(json, 'node'),
    instance: textIn(json, 'instance'),
    count: numberIn(json, 'count'),
    since: timeIn(json, 'since'),
  };
}

/** More exact than a double. */
function nanos(ms: number): string {
  return String(BigInt(Math.max(0, Math.round(ms))) * 1_000_000n);
}
