import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { GapSummary } from '../../components/gap_summary.tsx';
import { PastNote } from '../../components/past_note.tsx';
import { useSame } from '../../components/use_same.ts';
import { useView } from '../../components/use_view.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { range } from '../../state/time.ts';
import { PanelFooter } from '../shared/panel_footer.tsx';
import { PoseEditor } from './pose_editor.tsx';
import { PoseLegend } from './pose_legend.tsx';
import { PoseNotes } from './pose_notes.tsx';
import { PoseOptions } from './pose_options.tsx';
import { PoseStage } from './pose_stage.tsx';
import type { ShownPoses } from './shown_poses.ts';
import { nameOfPose, unitsOfPose, usePosePlans } from './use_pose_plans.ts';
import './pose.css';

/** Positions and attitudes of instances in three dimensions. */
export function PosePanel({ spec }: { spec: SpecOf<'pose'> }) {
  const answer = useSignal<ShownPoses | undefined>(undefined);
  const isEdited = useSignal(false);
  const fit = useRef<() => void>(() => {});
  const { plans, problems } = usePosePlans(spec);
  const names = useSame(() => spec.poses.map(nameOfPose)).value;
  const units = useSame(() => spec.poses.map(unitsOfPose)).value;
  const ready = plans.value;
  useView(
    () => ({ kind: 'poses', range: range.value, poses: plans.value.map((pose) => pose.plans) }),
    (result) => {
      if (result.answer.kind !== 'poses') return;
      const { tracks } = result.answer;
      const numbered = ready.flatMap(({ index }, at) => (tracks[at] ? [[index, tracks[at]] as const] : []));
      answer.value = {
        ...result.answer,
        range: [result.from, result.to],
        byNumber: new Map(numbered),
      };
    },
  );
  const found = answer.value;
  return (
    <section class="panel pose-panel" data-testid="pose" data-panel={spec.id}>
      <PoseStage spec={spec} names={names} unit={units[0]?.[0]} answer={answer} fit={fit} />
      <PoseLegend names={names} units={units} answer={found} />
      <PoseNotes spec={spec} names={names} problems={problems} answer={found} />
      <GapSummary gaps={found?.gaps ?? []} />
      <PoseOptions
        spec={spec}
        isEdited={isEdited.value}
        onFit={() => fit.current()}
        onEdit={() => {
          isEdited.value = !isEdited.value;
        }}
      />
      {isEdited.value && (
        <PoseEditor
          spec={spec}
          names={names}
          onEnd={() => {
            isEdited.value = false;
          }}
        />
      )}
      <PanelFooter spec={spec}>
        <PastNote past={found?.past} />
      </PanelFooter>
    </section>
  );
}
