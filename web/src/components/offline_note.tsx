import { useComputed } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { formatInstant, formatRoughAge } from '../format/time.ts';
import { awaited, showNewest } from '../state/away.ts';
import { takenAt } from '../state/freshness.ts';
import { nameOf } from '../state/names.ts';
import { now } from '../state/now.ts';
import { cellsOf, hasArchive } from '../state/store.ts';
import { range } from '../state/time.ts';
import { strings } from '../strings/strings.ts';
import { keyOf, type Target } from '../wire/target.ts';

const words = strings.offline;

/** Shows when an offline instance was last seen, and leads to that time. */
export function OfflineNote({ target }: { target: Target }) {
  const cells = cellsOf(target);
  const isOffline = useComputed(() => (cells.entry.value?.state ?? 'online') !== 'online').value;
  const newest = useComputed(() => cells.flow.value?.newest).value;
  const shown = range.value;
  const taken = newest === undefined ? undefined : takenAt(cells, newest);
  const key = keyOf(target);
  const isWanted = isOffline && shown.live;
  useEffect(() => {
    if (!isWanted || taken === undefined || awaited.peek() !== key) return;
    awaited.value = '';
    showNewest(taken);
  }, [isWanted, taken, key]);
  if (!isWanted) return null;
  if (taken === undefined) {
    // Unknown until the archive has answered.
    return hasArchive.value && cells.flow.value ? (
      <p class="moment-note" data-testid="offline-note">
        {words.nothing(nameOf(target))}
      </p>
    ) : null;
  }
  const away = now.peek() - taken;
  if (away < shown.span) return null;
  return (
    <p class="moment-note" data-testid="offline-note">
      <span>{words.newest(nameOf(target), formatInstant(taken), formatRoughAge(away))}</span>{' '}
      <button type="button" class="button" data-testid="show-newest" onClick={() => showNewest(taken)}>
        {words.show}
      </button>
    </p>
  );
}
