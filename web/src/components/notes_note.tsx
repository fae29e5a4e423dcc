import { formatInteger } from '../format/number.ts';
import { formatMoment } from '../format/time.ts';
import { keptUntil, MAX_KEPT } from '../state/annotations.ts';
import { span } from '../state/time.ts';
import { strings } from '../strings/strings.ts';

const words = strings.notes;

/** Shows the time of the last note if there may be later ones; in few words below a chart. */
export function NotesNote({ isShort = false }: { isShort?: boolean }) {
  if (keptUntil.value === undefined) return null;
  const until = formatMoment(keptUntil.value, span.value);
  const text = words.more(formatInteger(MAX_KEPT), until);
  return (
    <span class="is-warn" role="status" title={text} data-testid="notes-note">
      {isShort ? words.moreShort(until) : text}
    </span>
  );
}
