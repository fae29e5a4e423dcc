import { Choice } from '../../components/toggle.tsx';
import { formatSpan } from '../../format/time.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { changePanel } from '../../state/panels.ts';
import { TRAILS } from '../shared/expressions.ts';
import { UP_AXES } from './frame.ts';
import { poseStrings as words } from './strings.ts';

/** How poses are shown. */
export function PoseOptions(props: {
  spec: SpecOf<'pose'>;
  isEdited: boolean;
  onFit: () => void;
  onEdit: () => void;
}) {
  const { spec, isEdited, onFit, onEdit } = props;
  const { trail, up, ...rest } = spec;
  return (
    <div class="panel-options">
      <button type="button" class="button" title={words.fitTip} data-testid="pose-fit" onClick={onFit}>
        {words.fit}
      </button>
      <Choice
        label={words.trail}
        value={trail ?? 0}
        values={TRAILS}
        nameOf={(seconds) => (seconds === 0 ? words.whole : formatSpan(seconds * 1000))}
        testId="pose-trail"
        onChange={(seconds) =>
          changePanel(spec.id, { ...rest, ...(up && { up }), ...(seconds > 0 && { trail: seconds }) })
        }
      />
      <Choice
        label={words.up}
        value={up ?? 'z'}
        values={UP_AXES}
        nameOf={(axis) => words.ups[axis]}
        testId="pose-up"
        onChange={(axis) =>
          changePanel(spec.id, {
            ...rest,
            ...(trail !== undefined && { trail }),
            ...(axis !== 'z' && { up: axis }),
          })
        }
      />
      <button
        type="button"
        class="button button-quiet"
        aria-expanded={isEdited}
        data-testid="pose-metrics"
        onClick={onEdit}
      >
        {words.metrics}
      </button>
    </div>
  );
}
