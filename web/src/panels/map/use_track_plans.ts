import { type ReadonlySignal, useComputed } from '@preact/signals';
import { useSame } from '../../components/use_same.ts';
import { judgeKnown } from '../../state/expressions.ts';
import { nameOf } from '../../state/names.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { schemaOfTarget } from '../../state/target_schema.ts';
import type { TrackPlans } from '../../stream/query.ts';
import { angleOf } from './angle.ts';
import { mapStrings } from './strings.ts';
import { colorsOf } from './tracks.ts';

type Spec = SpecOf<'map'>;

/** A track whose metrics are known. */
export interface ReadyTrack {
  /** Number of the track in the panel. */
  readonly index: number;
  readonly plans: TrackPlans;
}

interface TrackSources {
  readonly ready: readonly ReadyTrack[];
  readonly problems: readonly string[];
}

/** The tracks of a map that can be computed, and why others cannot. Equal ones change nothing. */
export function useTrackPlans(spec: Spec): {
  readonly plans: ReadonlySignal<readonly ReadyTrack[]>;
  readonly problems: readonly string[];
} {
  const found = useComputed(() => find(spec));
  const plans = useSame(() => found.value.ready);
  const problems = useSame(() => found.value.problems);
  return { plans, problems: problems.value };
}

function find(spec: Spec): TrackSources {
  const colors = colorsOf(spec);
  const problems: string[] = [];
  const ready = spec.tracks.flatMap(({ target, latitude, longitude, heading }, index): ReadyTrack[] => {
    const schema = schemaOfTarget(target);
    const planOf = (text: string) => {
      const judged = judgeKnown(text);
      if (judged.state === 'ready') return judged.plan;
      problems.push(
        judged.state === 'waiting' ? judged.problem : mapStrings.failed(nameOf(target), judged.problem),
      );
      return undefined;
    };
    const [north, east] = [latitude, longitude].map((metric) => planOf(angleOf(target, metric, schema)));
    if (!north || !east) return [];
    const toward = heading === undefined ? undefined : planOf(angleOf(target, heading, schema));
    const color = colors[index] === undefined ? undefined : planOf(colors[index]);
    const plans = {
      latitude: north,
      longitude: east,
      ...(toward && { heading: toward }),
      ...(color && { color }),
    };
    return [{ index, plans }];
  });
  return { ready, problems: [...new Set(problems)] };
}
