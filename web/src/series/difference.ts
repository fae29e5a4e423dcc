/** A curve over the time since its beginning. */
export interface Curve {
  readonly count: number;
  /** Place of a column: the time since the beginning, or a share of the whole. */
  place(column: number): number;
  value(column: number): number;
  /** Whether no line leads to the column from the one before it. */
  isBroken(column: number): boolean;
}

/** Places and values; NaN where one of both curves has no value. */
export interface Difference {
  readonly places: Float64Array;
  readonly values: Float64Array;
}

/** How much the second curve is above the first, at each column of the first. Nothing is read across a gap. */
export function differenceOf(first: Curve, second: Curve, isStep: boolean): Difference {
  const places = new Float64Array(first.count);
  const values = new Float64Array(first.count);
  let at = 0;
  for (let column = 0; column < first.count; column++) {
    const place = first.place(column);
    while (at < second.count && second.place(at) <= place) at++;
    places[column] = place;
    values[column] = valueBetween(second, at - 1, place, isStep) - first.value(column);
  }
  return { places, values };
}

/** Returns the value at a place after a column and before the next one. */
export function valueBetween(curve: Curve, before: number, place: number, isStep: boolean): number {
  const after = before + 1;
  if (before < 0) return Number.NaN;
  if (curve.place(before) === place) return curve.value(before);
  if (after >= curve.count || curve.isBroken(after)) return Number.NaN;
  if (isStep) return curve.value(before);
  const share = (place - curve.place(before)) / (curve.place(after) - curve.place(before));
  const [low, high] = [curve.value(before), curve.value(after)];
  const width = high - low;
  return Number.isFinite(width) ? low + share * width : low * (1 - share) + high * share;
}
