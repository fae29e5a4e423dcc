import type { Plan } from '../expressions/plan.ts';
import { align, held } from '../expressions/signal.ts';
import { type PoseTrack, poseTrackOf } from '../series/pose_track.ts';
import { within, worst } from './computed_answer.ts';
import { type Computed, computedRows } from './expression_answer.ts';
import type { AnswerOf, PosePlans, Query } from './query.ts';
import type { Scene } from './scene.ts';

/** Points of the archive that an answer is made from. */
const ARCHIVE_COLUMNS = 2000;
/** Most poses of all tracks together. */
const MAX_POSES = 16_384;
/** Poses of each track, however many tracks there are. */
const MIN_POSES = 512;

/** Poses of instances over time. An attitude is the last one at the time of a position. */
export function posesAnswer(scene: Scene, { poses }: Query & { kind: 'poses' }): AnswerOf<'poses'> {
  const rows = Math.max(MIN_POSES, Math.floor(MAX_POSES / Math.max(1, poses.length)));
  const read = (plan: Plan) => computedRows(scene, plan, '0', ARCHIVE_COLUMNS, { rows });
  const positions: Computed[] = [];
  const tracks = poses.map(({ position, attitude = [] }: PosePlans): PoseTrack => {
    const computed = position.map(read);
    positions.push(...computed);
    const { times, breaks, columns } = align(computed.map((part) => within(scene, part)));
    // A position stays when the attitude of another instance is missing.
    const quaternion = attitude.map((plan) => held(read(plan).signal, times));
    const track = poseTrackOf({ times, position: columns, quaternion, breaks }, rows);
    const isOver = computed.some(({ gaps }) => gaps.some(({ isLasting }) => isLasting));
    return isOver ? { ...track, isOver } : track;
  });
  return { kind: 'poses', tracks, gaps: positions.flatMap(({ gaps }) => gaps), ...worst(positions) };
}
