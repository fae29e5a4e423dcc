import { infinitiesOf, joinMarks } from './columns.ts';
import { FOLD, Tier } from './tier.ts';

/** Numbers of one series: a column of a batch. */
export type Numbers = ArrayLike<number> | ArrayLike<bigint>;

/** Maximum rows of a tier. With {@link TIERS} tiers: minutes at a million samples a second, hours at a thousand. */
const LIMIT = 1 << 16;
const TIERS = 4;
/** Samples to append before the next fold, so that a ring of 4,096 has room for those that are not folded yet. */
const CHUNK = 4096 - FOLD;

/**
 * The numbers of one instance in memory: the newest samples as they are, older ones folded tier by tier, sixteen to one,
 * into minimum, maximum and last value. Memory is bounded by the limit of each tier, and by the time to keep.
 */
export class SeriesStore {
  readonly tiers: readonly Tier[];
  /** The first row that is not folded into the next tier, for each tier but the last. */
  private readonly folded: number[] = new Array(TIERS - 1).fill(0);
  private isBroken = false;

  constructor(
    readonly series: number,
    private readonly keepMs: number,
    limit = LIMIT,
  ) {
    this.tiers = Array.from({ length: TIERS }, (_, level) => new Tier(series, level === 0, limit));
  }

  get newest(): number | undefined {
    const raw = this.tiers[0];
    return raw.size === 0 ? undefined : raw.end[raw.slot(raw.next - 1)];
  }

  get oldest(): number | undefined {
    for (let level = TIERS - 1; level >= 0; level--) {
      const tier = this.tiers[level];
      if (tier.size > 0) return tier.start[tier.slot(tier.first)];
    }
    return undefined;
  }

  /** Times of the oldest and the newest sample, if there are any. */
  get reach(): { readonly oldest: number; readonly newest: number } | undefined {
    const { oldest, newest } = this;
    return oldest === undefined || newest === undefined ? undefined : { oldest, newest };
  }

  get bytes(): number {
    return this.tiers.reduce((sum, tier) => sum + tier.bytes, 0);
  }

  /** Separates later samples from earlier ones: no line is drawn between them, and no row folded across. */
  break(): void {
    for (let level = 0; level < TIERS - 1; level++) {
      const tier = this.tiers[level];
      while (this.folded[level] < tier.next) this.fold(level, tier.next);
    }
    this.isBroken = true;
  }

  /** Appends samples in the order of time, in milliseconds; `columns` has one entry for each series. */
  append(times: Float64Array, columns: readonly Numbers[]): void {
    for (let from = 0; from < times.length; from += CHUNK) {
      this.appendChunk(times, columns, from, Math.min(times.length, from + CHUNK));
    }
  }

  private appendChunk(times: Float64Array, columns: readonly Numbers[], from: number, to: number): void {
    const raw = this.tiers[0];
    raw.reserve(to - from, times[to - 1], this.keepMs, this.unfoldedIn(0));
    const start = raw.next;
    // A node's clock may step back a little; a later sample is never drawn before an earlier one.
    let time = this.newest ?? Number.NEGATIVE_INFINITY;
    for (let index = from; index < to; index++) {
      time = Math.max(time, times[index]);
      const slot = raw.claim();
      raw.start[slot] = time;
      raw.breaks[slot] = 0;
    }
    if (this.isBroken) raw.breaks[raw.slot(start)] = 1;
    this.isBroken = false;
    for (let series = 0; series < this.series; series++) {
      const column = columns[series];
      const values = raw.last[series];
      let slot = raw.slot(start);
      for (let index = from; index < to; index++) {
        values[slot] = Number(column[index]);
        slot = slot + 1 === raw.capacity ? 0 : slot + 1;
      }
    }
    for (let level = 0; level < TIERS - 1; level++) {
      const tier = this.tiers[level];
      while (tier.next - this.folded[level] >= FOLD) this.fold(level, this.folded[level] + FOLD);
    }
  }

  /** Returns the number of rows that are not folded into the next tier yet; none in the last tier. */
  private unfoldedIn(level: number): number {
    return level < TIERS - 1 ? this.tiers[level].next - this.folded[level] : 0;
  }

  /** Folds the rows up to `to` that are not folded yet into one row of the next tier. */
  private fold(level: number, to: number): void {
    const tier = this.tiers[level];
    const above = this.tiers[level + 1];
    const from = this.folded[level];
    const stop = Math.min(to, from + FOLD);
    const lastSlot = tier.slot(stop - 1);
    above.reserve(1, tier.end[lastSlot], this.keepMs, this.unfoldedIn(level + 1));
    const into = above.claim();
    above.start[into] = tier.start[tier.slot(from)];
    above.end[into] = tier.end[lastSlot];
    above.breaks[into] = tier.breaks[tier.slot(from)];
    let count = 0;
    for (let index = from; index < stop; index++) count += tier.count(tier.slot(index));
    above.setCount(into, count);
    const firstSlot = tier.slot(from);
    for (let series = 0; series < this.series; series++) {
      const mins = tier.min[series];
      const maxs = tier.max[series];
      const lasts = tier.last[series];
      let min = Number.POSITIVE_INFINITY;
      let max = Number.NEGATIVE_INFINITY;
      let last = Number.NaN;
      let isWhole = true;
      let slot = firstSlot;
      for (let index = from; index < stop; index++) {
        // Comparisons with NaN are false: the row is NaN only if all its values are.
        if (mins[slot] < min) min = mins[slot];
        if (maxs[slot] > max) max = maxs[slot];
        const value = lasts[slot];
        if (Number.isNaN(value)) isWhole = false;
        else last = value;
        slot = slot + 1 === tier.capacity ? 0 : slot + 1;
      }
      above.min[series][into] = min;
      above.max[series][into] = max;
      above.last[series][into] = last;
      if (isWhole && !tier.marks[series] && infinitiesOf(min, max) === 0) above.mark(series, into, 0);
      else markFolded(tier, above, series, { from, stop, into });
    }
    this.folded[level] = stop;
  }

  /**
   * Visits the rows of a time span: those of the finest tier that reaches back far enough with at most `rows` rows, then
   * the rows of finer tiers that are not folded into it yet. A row across the end is replaced by finer ones as far as
   * there are any, so that the last sample at or before the end is known. Each row comes with its tier; oldest first, one
   * beyond each end.
   */
  visit(from: number, to: number, rows: number, each: (tier: Tier, slot: number) => void): void {
    const level = this.levelFor(from, to, rows);
    const chosen = this.tiers[level];
    let begin = Math.max(chosen.first, chosen.lowerBound(from) - 1);
    for (let at = level; at >= 0; at--) {
      const tier = this.tiers[at];
      if (at < level) begin = Math.max(tier.first, this.folded[at]);
      for (let index = begin; index < tier.next; index++) {
        const slot = tier.slot(index);
        if (tier.start[slot] <= to && tier.end[slot] > to) {
          this.visitAcross(at, slot, to, each);
          return;
        }
        each(tier, slot);
        if (tier.start[slot] > to) return;
      }
    }
  }

  /** Visits a row that begins before `to` and ends after it, in the finest rows that are left of it. */
  private visitAcross(
    level: number,
    slot: number,
    to: number,
    each: (tier: Tier, slot: number) => void,
  ): void {
    const tier = this.tiers[level];
    const finer = this.tiers[level - 1];
    const start = tier.start[slot];
    if (!finer || finer.size === 0 || finer.start[finer.slot(finer.first)] > start) {
      each(tier, slot);
      return;
    }
    for (let index = finer.lowerBound(start); index < finer.next; index++) {
      const at = finer.slot(index);
      if (finer.start[at] <= to && finer.end[at] > to) {
        this.visitAcross(level - 1, at, to, each);
        return;
      }
      each(finer, at);
      if (finer.start[at] > to) return;
    }
  }

  /** Whether {@link visit} visits single samples. */
  hasSamples(from: number, to: number, rows: number): boolean {
    return this.levelFor(from, to, rows) === 0;
  }

  private levelFor(from: number, to: number, rows: number): number {
    for (let level = 0; level < TIERS - 1; level++) {
      const tier = this.tiers[level];
      const reachesBack = tier.first === 0 || (tier.size > 0 && tier.start[tier.slot(tier.first)] <= from);
      if (reachesBack && tier.lowerBound(to) - tier.lowerBound(from) <= rows) return level;
    }
    return TIERS - 1;
  }
}

/** Writes the marks of a folded row, and its extremes without infinite values. */
function markFolded(
  tier: Tier,
  above: Tier,
  series: number,
  { from, stop, into }: { readonly from: number; readonly stop: number; readonly into: number },
): void {
  const [mins, maxs, lasts] = [tier.min[series], tier.max[series], tier.last[series]];
  let [min, max, marks] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  for (let index = from; index < stop; index++) {
    const slot = tier.slot(index);
    const [low, high] = [mins[slot], maxs[slot]];
    if (Number.isFinite(low) && low < min) min = low;
    if (Number.isFinite(high) && high > max) max = high;
    const own = (tier.marks[series]?.[slot] ?? 0) | infinitiesOf(low, high);
    marks = joinMarks(marks, own, !Number.isNaN(lasts[slot]));
  }
  above.min[series][into] = min;
  above.max[series][into] = max;
  above.mark(series, into, marks);
}
