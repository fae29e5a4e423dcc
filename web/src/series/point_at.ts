/** Points over time, oldest first. */
export interface TimedPoints {
  readonly times: Float64Array;
  /** 1 if no line leads to the point. */
  readonly breaks: Uint8Array;
}

/**
 * Returns the last point at or before a time: -1 before the first, between two points that no line connects, and after the
 * last one if that is known to be the end of the line (`isOver`).
 */
export function pointAt({ times, breaks }: TimedPoints, time: number, isOver: boolean): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  const at = low - 1;
  if (at < 0 || times[at] === time) return at;
  const isCut = at + 1 < times.length ? breaks[at + 1] === 1 : isOver;
  return isCut ? -1 : at;
}
