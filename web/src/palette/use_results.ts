import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { EntryKind, PaletteEntry, PaletteLevel } from './entry.ts';
import { scoreOf, searchable } from './match.ts';
import { recentIds } from './recent.ts';
import { Search, wordsOf } from './search.ts';
import { allEntries, prepareAll } from './sources.ts';

/** How long a piece of the search may take: typing and charts stay smooth. */
const SLICE_MS = 6;
/** What was found so far is shown after this time. */
const PATIENCE_MS = 120;

/** Of entries that fit as well, those first that are wanted more often. */
const WEIGHTS: Record<EntryKind, number> = {
  panel: 6,
  instance: 6,
  command: 5,
  dashboard: 4,
  metric: 2,
  control: 0,
  help: -4,
};
const RECENT = 12;

export interface Results {
  readonly entries: readonly PaletteEntry[];
  /** Undefined while the search goes on. */
  readonly count: number | undefined;
  readonly recent: ReadonlySet<string>;
}

/** The entries for what somebody has typed: of a level, or else of everything. */
export function usePaletteResults(typed: string, level: PaletteLevel | undefined): Results {
  const order = useMemo(recentIds, []);
  const recent = useMemo(() => new Set(order), [order]);
  const found = useSignal<Pick<Results, 'entries' | 'count'>>({ entries: [], count: undefined });
  /** Counts how often entries were read: again after more of them were loaded. */
  const reading = useSignal(0);
  const search = useRef<{ readonly reading: number; readonly search: Search } | undefined>(undefined);
  useEffect(() => {
    let isOpen = true;
    void prepareAll().then(() => {
      if (isOpen) reading.value++;
    });
    return () => {
      isOpen = false;
    };
  }, [reading]);
  const number = reading.value;
  useEffect(() => {
    if (level) return;
    if (search.current?.reading !== number) {
      search.current = { reading: number, search: new Search(allEntries()) };
    }
    const { search: running } = search.current;
    running.bonus = (entry) => bonusOf(entry, order, typed === '');
    running.look(typed);
    return inPieces(running, () => {
      found.value = {
        entries: running.found.map(({ entry }) => entry),
        count: running.isDone ? running.count : undefined,
      };
    });
  }, [typed, level, number, order, found]);
  if (!level) return { ...found.value, recent };
  const entries = inLevel(level, typed);
  return { entries, count: entries.length, recent: NONE };
}

const NONE: ReadonlySet<string> = new Set();

function bonusOf(entry: PaletteEntry, order: readonly string[], isEmpty: boolean): number {
  const at = order.indexOf(entry.id);
  if (isEmpty) return at < 0 ? 0 : order.length - at;
  return WEIGHTS[entry.kind] + (at < 0 ? 0 : RECENT);
}

/** Searches in pieces. Shows what is found at the end, and before it if that takes long. Returns a function that ends it. */
function inPieces(search: Search, show: () => void): () => void {
  const begin = performance.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const piece = () => {
    const end = performance.now() + SLICE_MS;
    const isDone = search.step(() => performance.now() > end);
    if (isDone || performance.now() - begin > PATIENCE_MS) show();
    if (!isDone) timer = setTimeout(piece);
  };
  piece();
  return () => clearTimeout(timer);
}

function inLevel(level: PaletteLevel, typed: string): readonly PaletteEntry[] {
  const entries = level.entries(typed);
  const words = wordsOf(typed);
  if (level.isValue || words.length === 0) return entries;
  return entries
    .flatMap((entry) => {
      const score = scoreOf(searchable(entry.title, entry.detail, entry.words), words);
      return score === undefined ? [] : [{ entry, score }];
    })
    .sort((one, other) => other.score - one.score)
    .map(({ entry }) => entry);
}
