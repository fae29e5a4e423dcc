import { type Cause, lossCause } from '@oasis/wire';

/** What the DAC counts of an instance since it started: the same numbers for all pages, the fleet and the API. */
export interface DacCounts {
  readonly received: number;
  /** Missing samples without those in `keptBack`. */
  readonly missing: number;
  /** Samples that the flight recorder kept back on purpose. */
  readonly keptBack: number;
  readonly unexplained: number;
  /** `missing` by cause, most first; empty if the DAC does not report causes. */
  readonly causes: readonly (readonly [cause: string, count: number])[];
}

/** A row of the DAC's statistics. */
export interface StatisticsRow {
  readonly id: number;
  readonly received: number;
  /** Missing samples of all causes. */
  readonly missing: number;
  readonly causes: Readonly<Record<string, number>>;
}

const KEPT_BACK: Cause = 'kept_back';

export function countsOf({ received, missing, causes }: StatisticsRow): DacCounts {
  const byCause = new Map<string, number>();
  for (const [word, count] of Object.entries(causes)) {
    const cause = lossCause(word)?.cause ?? word;
    byCause.set(cause, (byCause.get(cause) ?? 0) + count);
  }
  const keptBack = byCause.get(KEPT_BACK) ?? 0;
  byCause.delete(KEPT_BACK);
  return {
    received,
    missing: Math.max(0, missing - keptBack),
    keptBack,
    unexplained: byCause.get('unexplained') ?? 0,
    causes: [...byCause].sort(([, a], [, b]) => b - a),
  };
}

/** The rows of the DAC's statistics by the numbers of the instances. The DAC sends those that have changed. */
export class CountBook {
  private readonly rows = new Map<number, StatisticsRow>();
  private readonly changed = new Set<number>();

  apply(rows: readonly StatisticsRow[]): void {
    for (const row of rows) {
      this.rows.set(row.id, row);
      this.changed.add(row.id);
    }
  }

  /** Another epoch of the DAC counts anew. */
  clear(): void {
    this.rows.clear();
    this.changed.clear();
  }

  /** Returns the counts of these instances that are new since the last call: changed ones, and those in `fresh`. */
  drain(watched: Iterable<{ readonly id: number; readonly isNew: boolean }>): Map<number, DacCounts> {
    const found = new Map<number, DacCounts>();
    for (const { id, isNew } of watched) {
      const row = isNew || this.changed.has(id) ? this.rows.get(id) : undefined;
      if (row) found.set(id, countsOf(row));
    }
    this.changed.clear();
    return found;
  }
}

/** An epoch is about the time at which the DAC started, in nanoseconds; earlier times are no epochs of real DACs. */
const EARLIEST_MS = Date.UTC(2001, 0, 1);

/** Returns when a DAC chose an epoch, in milliseconds by its clock; undefined if the text tells no time. */
export function beganAt(epoch: string): number | undefined {
  if (!/^[0-9a-f]{16}$/.test(epoch)) return undefined;
  const time = Number(BigInt(`0x${epoch}`) / 1_000_000n);
  return time >= EARLIEST_MS ? time : undefined;
}
