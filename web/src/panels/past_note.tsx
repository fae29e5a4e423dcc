import type { PastPart, ViewResult } from '../stream/query.ts';
import { strings } from '../strings.ts';

const words = strings.past;

/** Says what of a chart comes from the archive, and what that is made from. */
export function PastNote({ past }: { past: PastPart | undefined }) {
  if (!past) return null;
  return (
    <span
      class={past.state === 'failed' ? 'is-warn' : ''}
      role="status"
      title={words.tip}
      data-testid="past-note"
      data-state={past.state}
      data-level={past.level}
    >
      {words.state(past.state, past.level)}
    </span>
  );
}

/** Of all lines of a chart the one that is worst off. */
export function pastOf({ answer }: ViewResult): PastPart | undefined {
  if (answer.kind !== 'columns') return undefined;
  const parts = answer.blocks.flatMap(({ past }) => past ?? []);
  const first = (state: PastPart['state']) => parts.find((part) => part.state === state);
  return first('failed') ?? first('reading') ?? first('ready');
}
