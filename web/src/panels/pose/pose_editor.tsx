import { useSignal } from '@preact/signals';
import { Choice } from '../../components/toggle.tsx';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { changePanel } from '../../state/panels.ts';
import { PoseFields } from './pose_fields.tsx';
import { MAX_POSES, type Pose } from './poses.ts';
import { poseStrings as words } from './strings.ts';

/** Changes, adds and removes the poses of a panel, one at a time. */
export function PoseEditor(props: { spec: SpecOf<'pose'>; names: readonly string[]; onEnd: () => void }) {
  const { spec, names, onEnd } = props;
  const chosen = useSignal(0);
  const { poses } = spec;
  const index = Math.min(chosen.value, poses.length);
  const numbers = [...poses.keys(), ...(poses.length < MAX_POSES ? [poses.length] : [])];
  const change = (changed: readonly Pose[]) => {
    onEnd();
    changePanel(spec.id, { ...spec, poses: changed });
  };
  return (
    <div class="pose-editor" data-testid="pose-editor">
      <Choice
        label={words.pose}
        value={index}
        values={numbers}
        nameOf={(number) => names[number] ?? words.add}
        testId="pose-number"
        onChange={(number) => {
          chosen.value = number;
        }}
      />
      <PoseFields
        key={index}
        pose={poses[index]}
        onDone={(pose) => change(poses.toSpliced(index, 1, pose))}
        onRemove={
          index < poses.length && poses.length > 1 ? () => change(poses.toSpliced(index, 1)) : undefined
        }
        onEnd={onEnd}
      />
    </div>
  );
}
