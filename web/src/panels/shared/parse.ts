import type { Source } from '../../stream/query.ts';
import { type Fields, isFields, valuesOf } from '../../wire/fields.ts';
import type { Target } from '../../wire/target.ts';
import { parseSettings } from './parse_settings.ts';

/** Parsers of untrusted contents of panels. */

const MAX_METRICS = 100;
const MAX_NAME_LENGTH = 1024;
/** Latest date that the date fields accept. */
const LAST_DAY = Date.UTC(9999, 11, 31);

export function parseName(json: unknown): string | undefined {
  return typeof json === 'string' && json.length <= MAX_NAME_LENGTH ? json : undefined;
}

/** Whether a number is a valid time in milliseconds since 1970, or a span of at most that length. */
export function isTime(json: unknown): json is number {
  return typeof json === 'number' && Math.abs(json) <= LAST_DAY;
}

export function parseTarget(json: unknown): Target | undefined {
  if (!isFields(json)) return undefined;
  const [node, instance] = [parseName(json.node), parseName(json.instance)];
  return node !== undefined && instance !== undefined ? { node, instance } : undefined;
}

export function parseTargets(json: unknown): Target[] {
  return valuesOf(json).flatMap((entry) => parseTarget(entry) ?? []);
}

export function parseSources(json: unknown): Source[] {
  return valuesOf(json).flatMap((entry) => parseSource(entry) ?? []);
}

function parseSource(json: unknown): Source | undefined {
  if (!isFields(json)) return undefined;
  const target = parseTarget(json.target);
  const metrics = valuesOf(json.metrics)
    .slice(0, MAX_METRICS)
    .flatMap((metric) => parseName(metric) ?? []);
  return target && metrics.length > 0 ? { target, metrics } : undefined;
}

/** Returns the settings of a panel as a member; no member without. */
export function settingsIn({ settings }: Fields) {
  return present('settings', parseSettings(settings));
}

/** Returns a member that is true; no member without. */
export function flag<K extends string>(key: K, value: unknown): { [key in K]?: true } {
  return value === true ? ({ [key]: true } as { [key in K]?: true }) : {};
}

/** Returns a member with a value; no member without. */
export function present<K extends string, V>(key: K, value: V | undefined): { [key in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [key in K]?: V });
}
