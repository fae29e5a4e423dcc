/** Poses of an instance, oldest first. Each position is finite. */
export interface PoseTrack {
  readonly times: Float64Array;
  readonly xs: Float64Array;
  readonly ys: Float64Array;
  readonly zs: Float64Array;
  /** x, y, z and w of the quaternion as it was sampled, NaN where unknown; empty without. */
  readonly quaternion: readonly Float64Array[];
  /** 1 if no line leads to the position. */
  readonly breaks: Uint8Array;
  /** Number of samples whose position is not finite. */
  readonly unplaced: number;
  /** Whether nothing is known after the last pose: the instance is silent. */
  readonly isOver?: boolean;
}

/** The values that a track is made from, at common times. */
export interface PoseColumns {
  readonly times: Float64Array;
  readonly position: readonly Float64Array[];
  readonly quaternion: readonly Float64Array[];
  readonly breaks: Uint8Array;
}

/**
 * Removes positions that are not finite, all but the first and last time of an instance that stands still, and poses beyond
 * `most`: then the last one of each step stays.
 */
export function poseTrackOf(columns: PoseColumns, most: number): PoseTrack {
  const { times, position, quaternion, breaks } = columns;
  const all = [...position, ...quaternion];
  const isSame = (one: number, other: number) => all.every((column) => Object.is(column[one], column[other]));
  const kept: number[] = [];
  const starts: boolean[] = [];
  let unplaced = 0;
  let isBroken = true;
  for (let index = 0; index < times.length; index++) {
    isBroken ||= breaks[index] === 1;
    if (!position.every((column) => Number.isFinite(column[index]))) {
      unplaced++;
      isBroken = true;
      continue;
    }
    const [before, last] = [kept.at(-2), kept.at(-1)];
    const isStill =
      !isBroken &&
      starts.at(-1) === false &&
      before !== undefined &&
      last !== undefined &&
      isSame(last, index) &&
      isSame(before, last);
    // The last time of a pose moves on to this sample.
    if (isStill) kept.pop();
    else starts.push(isBroken);
    kept.push(index);
    isBroken = false;
  }
  return { ...chosen(columns, kept, starts, most), unplaced };
}

/** Chooses at most about `most` poses, and each that a gap precedes. */
function chosen(
  { times, position, quaternion }: PoseColumns,
  kept: readonly number[],
  starts: readonly boolean[],
  most: number,
): Omit<PoseTrack, 'unplaced'> {
  const step = Math.max(1, Math.ceil(kept.length / most));
  const rows: number[] = [];
  const breaks: number[] = [];
  let isBroken = false;
  kept.forEach((index, at) => {
    isBroken ||= starts[at];
    if (at % step !== 0 && at < kept.length - 1 && !starts[at]) return;
    rows.push(index);
    breaks.push(isBroken ? 1 : 0);
    isBroken = false;
  });
  const pick = (column: Float64Array) => Float64Array.from(rows, (index) => column[index]);
  const [xs, ys, zs] = position.map(pick);
  return {
    times: pick(times),
    xs,
    ys,
    zs,
    quaternion: quaternion.map(pick),
    breaks: Uint8Array.from(breaks),
  };
}
