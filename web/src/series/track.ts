/** Places of an instance, oldest first. Angles are in degrees. */
export interface Track {
  readonly times: Float64Array;
  /** Beyond 180 where the track crosses the antimeridian. */
  readonly longitudes: Float64Array;
  readonly latitudes: Float64Array;
  /** Clockwise from north; NaN where unknown. */
  readonly headings: Float32Array;
  /** The value that colors the track; NaN where unknown, may be infinite. */
  readonly colors: Float64Array;
  /** 1 if no line leads to the place. */
  readonly breaks: Uint8Array;
  /** Whether nothing is known after the last place: the instance is silent. */
  readonly isOver?: boolean;
}

/** What a track is made from, at common times. */
export interface TrackColumns {
  readonly times: Float64Array;
  readonly longitudes: Float64Array;
  readonly latitudes: Float64Array;
  readonly headings: Float64Array | undefined;
  readonly colors: Float64Array | undefined;
  readonly breaks: Uint8Array;
}

/** Leaves out unknown and impossible places, and of an instance that stands still all but its first and last time. */
export function trackOf({ times, longitudes, latitudes, headings, colors, breaks }: TrackColumns): Track {
  const columns = [longitudes, latitudes, headings, colors].filter((column) => column !== undefined);
  const isSame = (one: number, other: number) =>
    columns.every((column) => Object.is(column[one], column[other]));
  const kept: number[] = [];
  const starts: number[] = [];
  let isBroken = true;
  for (let index = 0; index < times.length; index++) {
    isBroken ||= breaks[index] === 1;
    if (!(Math.abs(longitudes[index]) <= 360 && Math.abs(latitudes[index]) <= 90)) {
      isBroken = true;
      continue;
    }
    const [before, last] = [kept.at(-2), kept.at(-1)];
    const isStill =
      !isBroken &&
      starts.at(-1) === 0 &&
      before !== undefined &&
      last !== undefined &&
      isSame(last, index) &&
      isSame(before, last);
    // The last time of a place moves on to this sample.
    if (isStill) kept.pop();
    else starts.push(isBroken ? 1 : 0);
    kept.push(index);
    isBroken = false;
  }
  const pick = (column: Float64Array) => Float64Array.from(kept, (index) => column[index]);
  const pickShort = (column: Float64Array | undefined) =>
    Float32Array.from(kept, (index) => column?.[index] ?? Number.NaN);
  return {
    times: pick(times),
    longitudes: unwrap(pick(longitudes)),
    latitudes: pick(latitudes),
    headings: pickShort(headings),
    colors: colors ? pick(colors) : new Float64Array(kept.length).fill(Number.NaN),
    breaks: Uint8Array.from(starts),
  };
}

/** Continues longitudes beyond 180, so that no step is longer than half the earth. */
export function unwrap(longitudes: Float64Array): Float64Array {
  const found = Float64Array.from(longitudes);
  let turns = 0;
  for (let index = 1; index < found.length; index++) {
    const step = longitudes[index] - longitudes[index - 1];
    if (step > 180) turns--;
    else if (step < -180) turns++;
    found[index] = longitudes[index] + 360 * turns;
  }
  return found;
}
