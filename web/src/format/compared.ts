import { formatQuantity } from './axis.ts';

/** A value beside the limit that it was compared with; empty without a value. */
export function compared(
  value: number | undefined,
  limit: number | undefined,
  unit: string | undefined,
): string {
  if (value === undefined) return '';
  const text = formatQuantity(value, unit, false);
  if (limit === undefined) return text;
  const sign = value > limit ? '>' : value < limit ? '<' : '=';
  return `${text} ${sign} ${formatQuantity(limit, unit, false)}`;
}
