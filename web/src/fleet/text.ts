import { judge, type Metric } from '@oasis/wire';
import { formatQuantity } from '../format/axis.ts';
import { visible } from '../text/visible.ts';
import type { FleetValue } from './query.ts';

/** The dash for what is not there. */
export const NOTHING = '\u2013';

/** Formats a value of a fleet in few letters. */
export function formatValue(value: FleetValue, metric: Metric | undefined): string {
  if (value === null) return NOTHING;
  if (typeof value === 'string') return visible(value);
  if (typeof value === 'boolean') return String(value);
  const named = metric?.enum?.values.find((entry) => Number(entry.value) === value);
  return named ? visible(named.name) : formatQuantity(value, metric?.unit, false);
}

/** How the limits of a metric judge a value. */
export function severityOf(value: FleetValue, metric: Metric | undefined): 'warn' | 'alarm' | undefined {
  return metric && typeof value === 'number' ? judge(metric, value)?.severity : undefined;
}
