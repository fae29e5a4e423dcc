import { labelsOf, pairsOf } from '../../state/labels.ts';
import { strings } from '../../strings/strings.ts';
import { visible } from '../../text/visible.ts';
import type { Target } from '../../wire/target.ts';

/** The labels of an instance, with those of its node; nothing without any. */
export function LabelChips({ target }: { target: Target }) {
  const pairs = pairsOf(labelsOf(target));
  if (pairs.length === 0) return null;
  return (
    <span
      class="label-chips"
      title={strings.commands.kept.labelList(pairs.map(visible).join(', '))}
      data-testid="labels"
    >
      {pairs.map((pair) => (
        <span key={pair} class="label-chip">
          <bdi>{visible(pair)}</bdi>
        </span>
      ))}
    </span>
  );
}
