import { formatQuantity } from './axis.ts';
import { formatWithin } from './tick_labels.ts';

/** A value beside the limit that it was compared with, with the digits that tell them apart; empty without a value. */
export function compared(
  value: number | undefined,
  limit: number | undefined,
  unit: string | undefined,
): string {
  if (value === undefined) return '';
  if (limit === undefined) return formatQuantity(value, unit, false);
  const sign = value > limit ? '>' : value < limit ? '<' : '=';
  const [text, other] = [value, limit].map((each) => formatWithin(each, [limit, value], unit));
  return `${text} ${sign} ${other}`;
}
