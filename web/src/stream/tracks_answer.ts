import type { Plan } from '../expressions/plan.ts';
import { align, held, type Signal } from '../expressions/signal.ts';
import { trackOf } from '../series/track.ts';
import { within, worst } from './computed_answer.ts';
import { type Computed, computedRows } from './expression_answer.ts';
import type { AnswerOf, Query, TrackPlans } from './query.ts';
import type { Scene } from './scene.ts';

/** Points of the archive that an answer is made from, and places of all tracks at most. */
const COLUMNS = 2000;
const PLACES = 16_384;
const LEAST = 512;

/** Places of instances over time. */
export function tracksAnswer(scene: Scene, { tracks }: Query & { kind: 'tracks' }): AnswerOf<'tracks'> {
  const rows = Math.max(LEAST, Math.floor(PLACES / Math.max(1, tracks.length)));
  const read = (plan: Plan) => computedRows(scene, plan, '0', COLUMNS, { rows });
  const all: Computed[] = [];
  const found = tracks.map((plans) => {
    const parts = readTrack(plans, read);
    all.push(...parts.computed);
    return trackFrom(scene, parts);
  });
  return {
    kind: 'tracks',
    tracks: found,
    // A series that colors a track does not interrupt it.
    gaps: all.flatMap(({ gaps }) => gaps),
    ...worst(all),
  };
}

interface Parts {
  readonly computed: readonly Computed[];
  readonly heading: Signal | undefined;
  readonly color: Signal | undefined;
}

function readTrack(plans: TrackPlans, read: (plan: Plan) => Computed): Parts {
  return {
    computed: [read(plans.longitude), read(plans.latitude)],
    heading: plans.heading && read(plans.heading).signal,
    color: plans.color && read(plans.color).signal,
  };
}

function trackFrom(scene: Scene, { computed, heading, color }: Parts) {
  const line = align(computed.map((part) => within(scene, part)));
  const [longitudes, latitudes] = line.columns;
  const along = (signal: Signal | undefined) => signal && held(signal, line.times);
  const { times, breaks } = line;
  const isOver = computed.some(({ gaps }) => gaps.some(({ isLasting }) => isLasting));
  const track = trackOf({
    times,
    longitudes,
    latitudes,
    headings: along(heading),
    colors: along(color),
    breaks,
  });
  return isOver ? { ...track, isOver } : track;
}
