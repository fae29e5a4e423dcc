import { type Fields, isFields } from '../wire/fields.ts';
import { keyOf, type Target } from '../wire/target.ts';

/** Alarms of the DAC (http-api.md, "alarms"). Times are milliseconds since 1970. */

/** From the mildest to the worst. */
export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** `latched`: its reason is over, but somebody must acknowledge it. */
export type AlarmState = 'normal' | 'active' | 'latched';

export interface Alarm extends Target {
  /** Of rule, node and instance. */
  readonly key: string;
  readonly rule: string;
  readonly state: AlarmState;
  readonly isAcknowledged: boolean;
  readonly severity: Severity;
  /** Whether its condition is known now. This says nothing about its state. */
  readonly isKnown: boolean;
  readonly message: string;
  readonly value: number | undefined;
  readonly limit: number | undefined;
  readonly unit: string | undefined;
  /** When its condition became true; clock of the node. */
  readonly since: number | undefined;
  /** When it was raised and cleared for the last time; clock of the node. */
  readonly raised: number | undefined;
  readonly cleared: number | undefined;
  readonly sequence: number | undefined;
  /** Why it changed last, if there is more to say. */
  readonly cause: string;
  /** Clock of the DAC. */
  readonly shelvedUntil: number | undefined;
  /** Shelved until it clears. */
  readonly isShelvedOnce: boolean;
  readonly isSuppressed: boolean;
  readonly isOutOfService: boolean;
  readonly comment: string;
  /** Who acted on it for the last time. */
  readonly principal: string;
  readonly raisedLastHour: number;
  readonly revision: number;
}

/** Longest text of the DAC that is kept. */
const MAX_TEXT_LENGTH = 2000;

/** Parses an alarm; undefined if it names no rule or no instance. */
export function parseAlarm(json: unknown): Alarm | undefined {
  if (!isFields(json)) return undefined;
  const { rule, node, instance, state } = json;
  if (typeof rule !== 'string' || typeof node !== 'string' || typeof instance !== 'string') return undefined;
  return {
    key: alarmKey(rule, { node, instance }),
    rule,
    node,
    instance,
    state: state === 'active' || state === 'latched' ? state : 'normal',
    isAcknowledged: json.acknowledged === true,
    severity: severityIn(json),
    isKnown: json.quality !== 'unknown',
    message: textIn(json, 'message'),
    value: numberIn(json, 'value'),
    limit: numberIn(json, 'limit'),
    unit: textIn(json, 'unit') || undefined,
    since: timeIn(json, 'since'),
    raised: timeIn(json, 'raised'),
    cleared: timeIn(json, 'cleared'),
    sequence: numberIn(json, 'sequence'),
    cause: textIn(json, 'cause'),
    shelvedUntil: timeIn(json, 'shelved_until'),
    isShelvedOnce: json.shelved_once === true,
    isSuppressed: json.suppressed === true,
    isOutOfService: json.out_of_service === true,
    comment: textIn(json, 'comment'),
    principal: textIn(json, 'principal'),
    raisedLastHour: numberIn(json, 'raised_last_hour') ?? 0,
    revision: numberIn(json, 'revision') ?? 0,
  };
}

export function alarmKey(rule: string, target: Target): string {
  return `${rule} ${keyOf(target)}`;
}

/** Whether it is raised, or was raised and nobody has acknowledged it. */
export function isStanding({ state, isAcknowledged }: Alarm): boolean {
  return state !== 'normal' || !isAcknowledged;
}

export function isShelved({ shelvedUntil, isShelvedOnce }: Alarm): boolean {
  return shelvedUntil !== undefined || isShelvedOnce;
}

/** Whether somebody has decided that it needs nobody. */
export function isInhibited(alarm: Alarm): boolean {
  return isShelved(alarm) || alarm.isSuppressed || alarm.isOutOfService;
}

/** Whether somebody should look at it: it stands, and nobody has acknowledged it or put it aside. */
export function needsAttention(alarm: Alarm): boolean {
  return !alarm.isAcknowledged && !isInhibited(alarm);
}

/** The order of lists: what needs attention first, then the worst, then the newest. */
export function compareAlarms(one: Alarm, other: Alarm): number {
  return (
    Number(needsAttention(other)) - Number(needsAttention(one)) ||
    Number(other.state !== 'normal') - Number(one.state !== 'normal') ||
    SEVERITIES.indexOf(other.severity) - SEVERITIES.indexOf(one.severity) ||
    (other.raised ?? 0) - (one.raised ?? 0) ||
    (one.key < other.key ? -1 : 1)
  );
}

export function severityIn({ severity }: Fields): Severity {
  return SEVERITIES.find((known) => known === severity) ?? 'medium';
}

export function textIn(json: Fields, name: string): string {
  const value = json[name];
  return typeof value === 'string' ? value.slice(0, MAX_TEXT_LENGTH) : '';
}

/** A finite number, also one that is written as text because a double cannot hold it. */
export function numberIn(json: Fields, name: string): number | undefined {
  const value = json[name];
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Nanoseconds as milliseconds. */
export function timeIn(json: Fields, name: string): number | undefined {
  const value = numberIn(json, name);
  return value === undefined ? undefined : value / 1e6;
}
