import { formatAge, formatInstant } from '../format/time.ts';
import { takenAt } from '../state/freshness.ts';
import type { InstanceCells } from '../state/store.ts';
import { strings } from '../strings/strings.ts';
import { wordsOf } from './gap_words.ts';
import type { ShownSample } from './use_shown.ts';

const words = strings.past;

/** Shows that values are of an earlier time, and their age at that time. Shows nothing beside the newest values. */
export function MomentNote({ shown, cells }: { shown: ShownSample; cells: InstanceCells }) {
  const { at, sample, state, level, gap } = shown;
  if (at === undefined) return null;
  const before = sample && formatAge(at - takenAt(cells, sample.time));
  return (
    <p
      class={`moment-note ${state === 'failed' ? 'is-warn' : ''}`}
      data-testid="moment-note"
      data-state={state}
    >
      <strong>{words.at(formatInstant(at))}</strong> {words.moment(state, before, level)}
      {gap && ` \u00b7 ${wordsOf(gap)}`}
    </p>
  );
}

/** Shows that a panel shows the present while others show the past. */
export function NowNote({ text = words.now }: { text?: string }) {
  return (
    <p class="now-note" data-testid="now-note">
      {text}
    </p>
  );
}
