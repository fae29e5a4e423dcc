import type { Columns } from './columns.ts';

/** A rate over a smaller share of the span would be noise: counters count in steps. */
const MAX_RATES_PER_SPAN = 60;
const MAX_WINDOW_MS = 1000;

/** Returns the rate of a counter at each column, per second: over one second, or less if less is shown; NaN without a rate. */
export function counterRates(columns: Columns, series: number, span: number): Float64Array {
  const window = Math.min(MAX_WINDOW_MS, span / MAX_RATES_PER_SPAN);
  const rates = new Float64Array(columns.count).fill(Number.NaN);
  let before = 0;
  let begin = 0;
  for (let column = 0; column < columns.count; column++) {
    if (columns.isBroken(column)) {
      begin = column;
      before = column;
    }
    const time = columns.time(column);
    while (before + 1 < column && time - columns.time(before + 1) >= window) before++;
    before = Math.max(before, begin);
    if (before >= column) continue;
    const step = columns.last(column, series) - columns.last(before, series);
    const seconds = (time - columns.time(before)) / 1000;
    // A counter that decreases has restarted; its next step is valid again.
    if (step < 0) begin = before = column;
    else if (seconds > 0 && Number.isFinite(step)) rates[column] = step / seconds;
  }
  return rates;
}
