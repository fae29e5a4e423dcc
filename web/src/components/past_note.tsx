import { formatInteger } from '../format/number.ts';
import { formatInstant, formatSpan } from '../format/time.ts';
import type { PastPart, ViewResult } from '../stream/query.ts';
import { strings } from '../strings/strings.ts';

const words = strings.past;

/** Shows which part of a panel comes from the archive, from which samples or roll-ups, and what is left out. */
export function PastNote({ past, isOfStates = false }: { past: PastPart | undefined; isOfStates?: boolean }) {
  if (!past) return null;
  const { state, level, step, newest, since } = past;
  const found =
    since === undefined
      ? [
          words.state(state, level),
          step === undefined ? '' : (isOfStates ? words.mixed : words.thinned)(formatSpan(step)),
          newest === undefined ? '' : words.newest(formatInteger(newest)),
        ]
      : [words.since(formatInstant(since))];
  return (
    <span
      class={state === 'failed' || newest !== undefined || since !== undefined ? 'is-warn' : ''}
      role="status"
      title={words.tip}
      data-testid="past-note"
      data-state={state}
      data-level={level}
    >
      {found.filter(Boolean).join(', ')}
    </span>
  );
}

/** Returns the line of a chart with the least complete past. */
export function pastOf({ answer }: ViewResult): PastPart | undefined {
  if (answer.kind !== 'columns') return undefined;
  const parts = answer.blocks.flatMap(({ past }) => past ?? []);
  const first = (state: PastPart['state']) => parts.find((part) => part.state === state);
  return first('failed') ?? first('reading') ?? first('ready');
}
