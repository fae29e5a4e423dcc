import { shownDate, timesShownAs, zoneMark, zoneOffset } from '../format/zone.ts';

/** Steps between ticks of time, in milliseconds. */

const TIME_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500].concat(
  [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800,
    604_800,
  ].map((seconds) => seconds * 1000),
);

export function timeSteps(): number[] {
  return TIME_STEPS;
}

/** Returns ticks at whole steps of the time that the page shows. */
export function timeSplits(min: number, max: number, step: number): number[] {
  const zone = -zoneOffset(min);
  const ticks: number[] = [];
  const last = zoneOffset(max);
  if (last !== -zone) {
    // The clock is changed between them: whole steps of the time that is shown, each as often as it comes.
    const end = max + Math.max(-zone, last);
    const first = Math.ceil((min + Math.min(-zone, last)) / step) * step;
    for (let tick = first; tick <= end; tick += step)
      ticks.push(...timesShownAs(tick).filter((time) => time >= min && time <= max));
    return ticks.sort((one, other) => one - other);
  }
  for (let tick = Math.ceil((min - zone) / step) * step + zone; tick <= max; tick += step) ticks.push(tick);
  return ticks;
}

/** Formats ticks with the parts of the time that differ between them. */
export function timeTicks(ticks: readonly number[]): string[] {
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1000;
  return ticks.map((tick) => {
    const date = shownDate(tick);
    const isMidnight = date.getUTCHours() === 0 && date.getUTCMinutes() === 0;
    if (step >= 3_600_000 && isMidnight) return `${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
    const minutes = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
    if (step >= 60_000) return minutes + zoneMark(tick);
    const seconds = `${minutes}:${two(date.getUTCSeconds())}`;
    const fraction = step >= 1000 ? '' : `.${String(date.getUTCMilliseconds()).padStart(3, '0')}`;
    return seconds + fraction + zoneMark(tick);
  });
}

/** Width of a character as a share of the font size; digits are the widest. */
export const CHARACTER = 0.62;

/** Replaces labels that an edge would cut off by empty ones; all in CSS pixels. */
export function wholeLabels(
  labels: readonly string[],
  places: readonly number[],
  width: number,
  fontSize: number,
): string[] {
  return labels.map((label, index) => {
    const half = (label.length * CHARACTER * fontSize) / 2;
    return places[index] - half >= 0 && places[index] + half <= width ? label : '';
  });
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
