/** Labels, and settings with their sources, as the registry says them (docs/reference/websocket.md). */

import { type DemandRange, parseDemandRange } from '@oasis/wire';
import { type Fields, isFields, listOf } from './fields.ts';

export type Labels = Readonly<Record<string, string>>;

/** No labels: one object, because most instances have none. A key may be called as a property that other objects have. */
export const NO_LABELS: Labels = Object.freeze(Object.create(null));
/** Likewise. */
const NO_SETTINGS: readonly SettingEntry[] = [];

export type SettingValue =
  | { readonly kind: 'hertz'; readonly hertz: number }
  | ({ readonly kind: 'demand' } & DemandRange)
  | { readonly kind: 'enabled'; readonly enabled: boolean }
  /** Undefined: any change counts. */
  | { readonly kind: 'deadband'; readonly deadband: number | undefined };

/** A setting that is kept, or differs from what the program has declared. */
export interface SettingEntry {
  /** `rate`, `enabled`, `deadband:METRIC` */
  readonly setting: string;
  /** Undefined if it is unknown. */
  readonly value: SettingValue | undefined;
  readonly program: SettingValue | undefined;
  /** Undefined if it is for this run only. */
  readonly kept: KeptEntry | undefined;
}

export interface KeptEntry {
  readonly value: SettingValue;
  readonly by: string;
  /** Milliseconds by the DAC's clock. */
  readonly at: number;
  /** `applied`, `replaced`, `waiting`, `refused` */
  readonly state: string;
  readonly problem: string | undefined;
}

export function parseLabels(labels: unknown): Labels {
  if (!isFields(labels)) return NO_LABELS;
  const found: Record<string, string> = Object.create(null);
  for (const [key, value] of Object.entries(labels)) if (typeof value === 'string') found[key] = value;
  return found;
}

export function parseSettings(settings: unknown): readonly SettingEntry[] {
  if (!Array.isArray(settings)) return NO_SETTINGS;
  return listOf(settings).flatMap((fields) => {
    if (typeof fields.setting !== 'string') return [];
    const kept = isFields(fields.kept) ? parseKept(fields.kept) : undefined;
    const [value, program] = [parseValue(fields.value), parseValue(fields.program)];
    return [{ setting: fields.setting, value, program, kept }];
  });
}

function parseKept(fields: Fields): KeptEntry | undefined {
  const value = parseValue(fields.value);
  if (!value) return undefined;
  return {
    value,
    by: typeof fields.by === 'string' ? fields.by : '',
    at: typeof fields.at === 'number' ? fields.at / 1e6 : 0,
    state: typeof fields.state === 'string' ? fields.state : '',
    problem: typeof fields.problem === 'string' ? fields.problem : undefined,
  };
}

function parseValue(value: unknown): SettingValue | undefined {
  if (!isFields(value)) return undefined;
  if (typeof value.hertz === 'number') return { kind: 'hertz', hertz: value.hertz };
  if (typeof value.enabled === 'boolean') return { kind: 'enabled', enabled: value.enabled };
  if ('deadband' in value) {
    return { kind: 'deadband', deadband: typeof value.deadband === 'number' ? value.deadband : undefined };
  }
  const range = parseDemandRange(value.demand);
  return range && { kind: 'demand', min: range.min, max: range.max };
}
