import { type Signal, signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { ExpressionField } from '../../components/expression_field.tsx';
import { judge, shortText } from '../../state/expressions.ts';
import type { Pose } from './poses.ts';
import { poseStrings as words } from './strings.ts';

const LABELS = [...words.coordinates, ...words.parts];
const COORDINATES = words.coordinates.length;

/** Fields for the expressions of a pose. */
export function PoseFields(props: {
  pose: Pose | undefined;
  onDone: (pose: Pose) => void;
  onRemove: (() => void) | undefined;
  onEnd: () => void;
}) {
  const { pose, onDone, onRemove, onEnd } = props;
  const texts = useMemo(() => fieldsOf(pose), [pose]);
  const typed = typedPose(texts);
  const done = () => {
    if (typed) onDone(typed);
  };
  return (
    <>
      {texts.map((value, index) => (
        <div key={LABELS[index]} class="pose-field">
          <span aria-hidden="true">{LABELS[index]}</span>
          <ExpressionField
            value={value}
            label={LABELS[index]}
            testId={`pose-field-${index}`}
            isAutoFocused={index === 0}
            onEnter={done}
            onEscape={onEnd}
          />
        </div>
      ))}
      <p class="panel-note">{words.needed}</p>
      <div class="pose-buttons">
        <button
          type="button"
          class="button button-main"
          disabled={!typed}
          data-testid="pose-done"
          onClick={done}
        >
          {words.done}
        </button>
        {onRemove && (
          <button type="button" class="button" data-testid="pose-remove" onClick={onRemove}>
            {words.remove}
          </button>
        )}
        <button type="button" class="button" data-testid="pose-cancel" onClick={onEnd}>
          {words.cancel}
        </button>
      </div>
    </>
  );
}

function fieldsOf(pose: Pose | undefined): Signal<string>[] {
  const known = [...(pose?.position ?? []), ...(pose?.attitude ?? [])];
  return LABELS.map((_, index) => signal(known[index] === undefined ? '' : shortText(known[index])));
}

/** The pose that is typed; undefined while a part is missing or wrong. Reads signals. */
function typedPose(texts: readonly Signal<string>[]): Pose | undefined {
  const ready = texts.map(({ value }) => {
    if (value.trim() === '') return '';
    const found = judge(value);
    return found.state === 'ready' ? found.text : undefined;
  });
  const [position, attitude] = [ready.slice(0, COORDINATES), ready.slice(COORDINATES)];
  if (!position.every(Boolean)) return undefined;
  if (attitude.every((text) => text === '')) return { position: position as string[] };
  return attitude.every(Boolean)
    ? { position: position as string[], attitude: attitude as string[] }
    : undefined;
}
