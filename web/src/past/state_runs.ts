import type { StateRun } from '../series/states.ts';
import type { Points } from './points.ts';

/**
 * Returns the states of a metric before `seam`, from points. A step with several states is a run of its own, with the last
 * state as its value. Times are the node's.
 */
export function runsOf(points: Points, metric: string, isBoolean: boolean, seam: number): StateRun[] {
  const { rows, step } = points;
  const texts = points.texts.get(metric);
  const place = points.places.get(metric) ?? -1;
  const runs: StateRun[] = [];
  let last: StateRun | undefined;
  for (let row = 0; row < rows.end.length && rows.end[row] < seam; row++) {
    const value = texts ? texts[row] : valueAt(rows.last[place], row, isBoolean);
    if (value === undefined || value === null) continue;
    const isMixed = !texts && rows.min[place][row] !== rows.max[place][row];
    const isBroken = rows.breaks[row] === 1;
    const end = rows.end[row];
    if (last && !isBroken && last.value === value && Boolean(last.isMixed) === isMixed) {
      last.to = end;
      continue;
    }
    // A state lasts until the next one, whose exact time within its step is unknown.
    const from = Math.max(Math.floor(end / step) * step, last?.to ?? Number.NEGATIVE_INFINITY);
    if (last && !isBroken) last.to = from;
    last = { from, to: end, value, isBroken, ...(isMixed && { isMixed }) };
    runs.push(last);
  }
  return runs;
}

function valueAt(
  column: Float64Array | undefined,
  row: number,
  isBoolean: boolean,
): StateRun['value'] | undefined {
  const value = column?.[row];
  if (value === undefined || Number.isNaN(value)) return undefined;
  return isBoolean ? value === 1 : value;
}
