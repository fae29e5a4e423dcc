import type { PoseTrack } from '../../series/pose_track.ts';
import type { AnswerOf } from '../../stream/query.ts';

/** The tracks of a panel by their number in it, and the time that they are of. */
export interface ShownPoses extends AnswerOf<'poses'> {
  readonly range: readonly [from: number, to: number];
  readonly byNumber: ReadonlyMap<number, PoseTrack>;
}
