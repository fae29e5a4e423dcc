import { lazy } from '../../components/lazy.tsx';
import { formatReference } from '../../expressions/syntax.ts';
import { nameOf } from '../../state/names.ts';
import { valuesOf } from '../../wire/fields.ts';
import type { Target } from '../../wire/target.ts';
import { describePanel, type SchemaOf } from '../shared/description.ts';
import { parseTrail } from '../shared/expressions.ts';
import { present } from '../shared/parse.ts';
import { UP_AXES, type UpAxis } from './frame.ts';
import { findPose, isNorthEastDown, type PoseMetric } from './pose_metrics.ts';
import { MAX_POSES, type Pose, parsePose, poseWithout, targetsOfPose } from './poses.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    /** Positions and attitudes in three dimensions. */
    readonly pose: {
      readonly poses: readonly Pose[];
      /** The direction that is up; z without. */
      readonly up?: UpAxis;
      /** Seconds before the end of the time shown that are drawn; all of it without. */
      readonly trail?: number;
    };
  }
}

export const pose = describePanel<'pose'>({
  kind: 'pose',
  name: '3D pose',
  Panel: lazy(async () => (await import('./pose_panel.tsx')).PosePanel),
  parse(json) {
    const poses = valuesOf(json.poses)
      .slice(0, MAX_POSES)
      .flatMap((entry) => parsePose(entry) ?? []);
    if (poses.length === 0) return undefined;
    return {
      kind: 'pose',
      poses,
      ...present(
        'up',
        UP_AXES.find((up) => up !== 'z' && up === json.up),
      ),
      ...present('trail', parseTrail(json.trail)),
    };
  },
  targets: ({ poses }) => poses.flatMap(targetsOfPose),
  without(content, key) {
    const poses = content.poses.flatMap((each) => poseWithout(each, key) ?? []);
    return poses.length === 0 ? undefined : { ...content, poses };
  },
  title: ({ poses }) => {
    const names = poses.flatMap((each) => targetsOfPose(each).slice(0, 1).map(nameOf));
    return `${names.join(', ')} \u00b7 3D pose`;
  },
  choices: [
    {
      name: 'pose',
      label: '3D pose',
      about:
        'Position and attitude in three dimensions, with a trail. Tick the instance of the quaternion too, if it is another one.',
      from: 'instances',
      needs: 'a position x, y, z or a quaternion',
      suits(schema) {
        const { position, attitude } = findPose(schema?.metrics ?? []);
        return (position ?? attitude) !== undefined;
      },
      build(targets, schemaOf) {
        const poses = posesOf(targets, schemaOf).slice(0, MAX_POSES);
        const names = targets.flatMap((target) => [target.instance, schemaOf(target)?.name ?? '']);
        if (poses.length === 0) return [];
        return [{ kind: 'pose', poses, ...(isNorthEastDown(names) && { up: 'down' as const }) }];
      },
    },
  ],
});

/**
 * A pose for each instance with a position. Its quaternion is its own, else that of an instance of its node that has no
 * position and turns no other one.
 */
function posesOf(targets: readonly Target[], schemaOf: SchemaOf): Pose[] {
  const found = targets.map((target) => ({ target, ...findPose(schemaOf(target)?.metrics ?? []) }));
  const free = new Set(found.filter(({ position, attitude }) => attitude && !position));
  return found.flatMap((own): Pose[] => {
    const { target, position } = own;
    if (!position) return [];
    const turning = own.attitude ? own : [...free].find((other) => other.target.node === target.node);
    if (turning) free.delete(turning);
    const attitude = turning?.attitude?.map((metric) => textOf(turning.target, metric));
    return [{ position: position.map((metric) => textOf(target, metric)), ...(attitude && { attitude }) }];
  });
}

function textOf({ node, instance }: Target, metric: PoseMetric): string {
  return formatReference({ node, instance, ...metric });
}
