import { formatInteger } from '../../format/number.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { numberedParts } from './poses.ts';
import type { ShownPoses } from './shown_poses.ts';
import { poseStrings as words } from './strings.ts';

/** What is left out of the drawing and why, and how quaternions are read. */
export function PoseNotes(props: {
  spec: SpecOf<'pose'>;
  names: readonly string[];
  problems: readonly string[];
  answer: ShownPoses | undefined;
}) {
  const { spec, names, problems, answer } = props;
  const unplaced = names.flatMap((name, index) => {
    const count = answer?.byNumber.get(index)?.unplaced ?? 0;
    return count === 0 ? [] : [words.unplaced(formatInteger(count), count === 1, name)];
  });
  const orders = spec.poses.flatMap((pose, index) => {
    const parts = numberedParts(pose);
    return parts ? [words.scalarFirst(names[index], parts)] : [];
  });
  const hasAttitude = spec.poses.some(({ attitude }) => attitude !== undefined);
  return (
    <>
      {[...problems, ...unplaced].map((problem) => (
        <p key={problem} class="panel-note pose-warning" role="status" data-testid="pose-problem">
          {problem}
        </p>
      ))}
      {hasAttitude && (
        <p class="panel-note" data-testid="pose-orders">
          {[words.axes, ...orders].join(' ')}
        </p>
      )}
    </>
  );
}
