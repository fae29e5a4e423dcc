import { cellsOf } from '../state/store.ts';
import type { Target } from '../stream/view.ts';
import { strings } from '../strings.ts';

/** Stands where an instance will be shown, and says why it is not, if that is known. */
export function Waiting({ target }: { target: Target }) {
  const { status, problem } = cellsOf(target).status.value ?? {};
  const reason = status === 'absent' ? strings.card.stateTip.absent : strings.panels.waiting(target.instance);
  return <p class="panel-empty">{problem ?? reason}</p>;
}
