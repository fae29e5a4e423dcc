import { type Signal, useSignal } from '@preact/signals';
import type { MutableRef } from 'preact/hooks';
import { useRef } from 'preact/hooks';
import type { SpecOf } from '../../state/panel_kinds.ts';
import type { ShownPoses } from './shown_poses.ts';
import { poseStrings as words } from './strings.ts';
import { type StageState, usePoseCanvas } from './use_pose_canvas.ts';

/** The drawing, or why there is none and what to do. */
export function PoseStage(props: {
  spec: SpecOf<'pose'>;
  names: readonly string[];
  unit: string | undefined;
  answer: Signal<ShownPoses | undefined>;
  fit: MutableRef<() => void>;
}) {
  const { spec, names, unit, answer, fit } = props;
  const place = useRef<HTMLDivElement>(null);
  const state = useSignal<StageState>('drawn');
  const attempt = useSignal(0);
  usePoseCanvas(place, { spec, names, unit, answer, fit, state, attempt: attempt.value });
  const points = [...(answer.value?.byNumber.values() ?? [])].reduce(
    (sum, { times }) => sum + times.length,
    0,
  );
  const isEmpty = answer.value !== undefined && points === 0;
  return (
    <div
      class="chart pose"
      role="application"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys turn it
      tabIndex={0}
      aria-label={words.about(names.join(', '))}
      ref={place}
      data-testid="pose-stage"
      data-state={state.value}
      data-points={points}
    >
      {isEmpty && state.value === 'drawn' && <p class="pose-empty">{words.empty}</p>}
      {state.value === 'missing' && (
        <p class="pose-empty" role="status" data-testid="pose-no-webgl">
          {words.noWebGl}
        </p>
      )}
      {state.value === 'lost' && (
        <div class="pose-empty" role="status" data-testid="pose-lost">
          <p>{words.lost}</p>
          <button
            type="button"
            class="button"
            onClick={() => {
              attempt.value++;
            }}
          >
            {words.again}
          </button>
        </div>
      )}
    </div>
  );
}
