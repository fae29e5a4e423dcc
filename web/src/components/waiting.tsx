import { cellsOf } from '../state/store.ts';
import { strings } from '../strings/strings.ts';
import type { Target } from '../wire/target.ts';

/** A placeholder for an instance, with the reason why it is not shown yet. */
export function Waiting({ target }: { target: Target }) {
  const { status, problem } = cellsOf(target).status.value ?? {};
  const reason = status === 'absent' ? strings.card.stateTip.absent : strings.panels.waiting(target.instance);
  return <p class="panel-empty">{problem ?? reason}</p>;
}
