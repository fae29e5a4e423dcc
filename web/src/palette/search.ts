import type { PaletteEntry } from './entry.ts';
import { type Searchable, scoreOf, searchable } from './match.ts';

/** Most entries that are searched; a DAC has at most 10,000 nodes. */
export const MOST_ENTRIES = 200_000;
/** Most entries that are listed. */
export const MAX_LISTED = 50;
/** Entries between two readings of the clock. */
const CLOCK_CHECK_ENTRIES = 64;

export interface ScoredEntry {
  readonly entry: PaletteEntry;
  readonly score: number;
}

interface Pooled extends Searchable {
  readonly entry: PaletteEntry;
}

/**
 * Searches many entries piece by piece, so that the page stays smooth: {@link step} works until its caller says that the
 * time is over. It reads its entries only as it gets to them.
 */
export class Search {
  private readonly pool: Pooled[] = [];
  private readonly rest: Iterator<PaletteEntry>;
  private isRead = false;
  private typed = '';
  private words: readonly string[] = [];
  /** Numbers of the entries that matched what was typed before, if all were searched: typing more only narrows it. */
  private narrowed: readonly number[] | undefined;
  private matching: number[] = [];
  private at = 0;
  private best: ScoredEntry[] = [];
  private matched = 0;

  constructor(
    entries: Iterable<PaletteEntry>,
    /** Adds to the score of an entry, such as of one that was used recently. */
    public bonus: (entry: PaletteEntry) => number = () => 0,
  ) {
    this.rest = entries[Symbol.iterator]();
  }

  /** The best of what was searched so far. */
  get found(): readonly ScoredEntry[] {
    return this.best;
  }

  /** How many entries match, of those that were searched so far. */
  get count(): number {
    return this.matched;
  }

  get isDone(): boolean {
    return this.narrowed ? this.at >= this.narrowed.length : this.isRead && this.at >= this.pool.length;
  }

  /** Begins to search for something else. */
  look(typed: string): void {
    const isLonger = this.typed !== '' && typed.startsWith(this.typed);
    const before = isLonger && this.isDone ? this.matching : undefined;
    // The candidates of an incomplete search still hold.
    this.narrowed = before ?? (isLonger ? this.narrowed : undefined);
    this.typed = typed;
    this.words = wordsOf(typed);
    this.matching = [];
    this.at = 0;
    this.best = [];
    this.matched = 0;
  }

  /** Searches on until everything is searched or `isOver` returns true. Returns whether it is done. */
  step(isOver: () => boolean): boolean {
    for (let count = 1; !this.isDone; count++) {
      const index = this.narrowed ? this.narrowed[this.at] : this.at;
      const pooled = this.pool[index] ?? this.readOn();
      if (!pooled) break;
      this.at++;
      this.judge(pooled, index);
      if (count % CLOCK_CHECK_ENTRIES === 0 && isOver()) return this.isDone;
    }
    return true;
  }

  private readOn(): Pooled | undefined {
    if (this.isRead) return undefined;
    const next = this.pool.length < MOST_ENTRIES ? this.rest.next() : undefined;
    if (!next || next.done) {
      this.isRead = true;
      return undefined;
    }
    const entry = next.value;
    const pooled = { entry, ...searchable(entry.title, entry.detail, entry.words) };
    this.pool.push(pooled);
    return pooled;
  }

  private judge(pooled: Pooled, index: number): void {
    // Without a word the order is that of the entries.
    const score = this.words.length === 0 ? 0 : scoreOf(pooled, this.words);
    if (score === undefined) return;
    this.matched++;
    this.matching.push(index);
    this.keep({ entry: pooled.entry, score: score + this.bonus(pooled.entry) });
  }

  /** Keeps the best entries in order; of equal ones, the first. */
  private keep(found: ScoredEntry): void {
    const last = this.best.at(-1);
    if (this.best.length >= MAX_LISTED && last && last.score >= found.score) return;
    let at = this.best.length;
    while (at > 0 && this.best[at - 1].score < found.score) at--;
    this.best.splice(at, 0, found);
    if (this.best.length > MAX_LISTED) this.best.pop();
  }
}

/** Splits what somebody has typed into words in lower case. Longer texts than any name are cut. */
export function wordsOf(typed: string): string[] {
  return typed.slice(0, 200).toLowerCase().split(/\s+/).filter(Boolean).slice(0, 12);
}
