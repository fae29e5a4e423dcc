import { type ReadonlySignal, useComputed } from '@preact/signals';
import { useSame } from '../../components/use_same.ts';
import { judgeKnown } from '../../state/expressions.ts';
import { nameOf } from '../../state/names.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import type { PosePlans } from '../../stream/query.ts';
import { type Pose, targetsOfPose } from './poses.ts';
import { poseStrings } from './strings.ts';

/** A pose whose metrics are known. */
export interface ReadyPose {
  /** Number of the pose in the panel. */
  readonly index: number;
  readonly plans: PosePlans;
}

/** Returns the poses of a panel that can be computed, and why others cannot. Equal ones change nothing. */
export function usePosePlans(spec: SpecOf<'pose'>): {
  readonly plans: ReadonlySignal<readonly ReadyPose[]>;
  readonly problems: readonly string[];
} {
  const found = useComputed(() => {
    const problems: string[] = [];
    const ready = spec.poses.flatMap((pose, index): ReadyPose[] => {
      const position = plansOf(pose, pose.position, problems);
      if (!position) return [];
      const attitude = pose.attitude && plansOf(pose, pose.attitude, problems);
      return [{ index, plans: { position, ...(attitude && { attitude }) } }];
    });
    return { ready, problems: [...new Set(problems)] };
  });
  const plans = useSame(() => found.value.ready);
  const problems = useSame(() => found.value.problems);
  return { plans, problems: problems.value };
}

/** Returns a plan for each expression; undefined, and why, if one has none. Reads signals. */
function plansOf(
  pose: Pose,
  texts: readonly string[],
  problems: string[],
): PosePlans['position'] | undefined {
  const plans = texts.flatMap((text) => {
    const judged = judgeKnown(text);
    if (judged.state === 'ready') return judged.plan;
    problems.push(
      judged.state === 'waiting' ? judged.problem : poseStrings.failed(nameOfPose(pose), judged.problem),
    );
    return [];
  });
  return plans.length === texts.length ? plans : undefined;
}

/** Returns the name of the instance of a position. Reads signals. */
export function nameOfPose(pose: Pose): string {
  const [target] = targetsOfPose(pose);
  return target ? nameOf(target) : pose.position.join(', ');
}

/** Returns the units of x, y and z. Reads signals. */
export function unitsOfPose({ position }: Pose): (string | undefined)[] {
  return position.map((text) => {
    const judged = judgeKnown(text);
    return judged.state === 'ready' ? judged.unit : undefined;
  });
}
