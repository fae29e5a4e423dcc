import type { Meaning } from '@oasis/wire';
import { withEnds } from '../../charts/scale_range.ts';
import { finite } from '../../series/value_scale.ts';

/** Room above the values, as a factor. */
const ROOM = 1.2;

/** Returns the ends of a dial: the range that the probe declares, or else one around the value and its limits. */
export function dialRange(metric: Meaning, value: number): [number, number] {
  const limits = [metric.warn?.below, metric.warn?.above, metric.alarm?.below, metric.alarm?.above].filter(
    (limit) => limit !== undefined,
  );
  const size = Math.max(0, ...limits.map(Math.abs), Number.isFinite(value) ? Math.abs(value) : 0);
  const max = metric.max ?? roundAbove(size);
  const min = metric.min ?? (Math.min(0, value, ...limits) < 0 ? -max : 0);
  return withEnds([min, max], { min });
}

/** Returns a power of ten, or half of one, that leaves some room above a size; 1 for zero. */
function roundAbove(size: number): number {
  if (size === 0) return 1;
  // In logarithms, because the room above the largest numbers is no number.
  const exponent = Math.ceil(Math.log10(size) + Math.log10(ROOM));
  const top = finite(Number(`1e${exponent}`));
  return size * ROOM <= top / 2 ? top / 2 : top;
}
