import { type GapCause, type GapSeverity, severityOf, worseOf } from '../series/causes.ts';

export const HISTORY_SECONDS = 60;

/** Samples and gaps of each of the last seconds: the strip on a card. */
export interface HistoryView {
  /** Second (since 1970, browser clock) of the last entry. */
  readonly last: number;
  readonly samples: readonly number[];
  readonly missing: readonly number[];
  /** The most serious gap in that second. */
  readonly marks: readonly (GapSeverity | undefined)[];
}

export class History {
  private last = 0;
  private readonly samples: number[] = new Array(HISTORY_SECONDS).fill(0);
  private readonly missing: number[] = new Array(HISTORY_SECONDS).fill(0);
  private readonly marks: (GapSeverity | undefined)[] = new Array(HISTORY_SECONDS).fill(undefined);

  addSamples(at: number, samples: number): void {
    const slot = this.slot(at);
    if (slot !== undefined) this.samples[slot] += samples;
  }

  /** Adds a gap of `count` samples; 0 for an interruption. Samples that nobody lost are not missing. */
  addGap(at: number, count: number, cause: GapCause): void {
    const slot = this.slot(at);
    if (slot === undefined) return;
    const severity = severityOf(cause, count);
    if (severity !== 'expected') this.missing[slot] += count;
    this.marks[slot] = worseOf(this.marks[slot], severity);
  }

  /** Returns the last minute up to `now`, also while nothing arrives. */
  view(now: number): HistoryView {
    this.slot(now);
    const order = Array.from(
      { length: HISTORY_SECONDS },
      (_, index) => (this.last + 1 + index) % HISTORY_SECONDS,
    );
    return {
      last: this.last,
      samples: order.map((slot) => this.samples[slot]),
      missing: order.map((slot) => this.missing[slot]),
      marks: order.map((slot) => this.marks[slot]),
    };
  }

  /** Returns the slot of a time in milliseconds; undefined if the time is too old. */
  private slot(at: number): number | undefined {
    const second = Math.floor(at / 1000);
    if (second <= this.last - HISTORY_SECONDS) return undefined;
    for (let next = Math.max(this.last + 1, second - HISTORY_SECONDS + 1); next <= second; next++) {
      const slot = next % HISTORY_SECONDS;
      this.samples[slot] = 0;
      this.missing[slot] = 0;
      this.marks[slot] = undefined;
    }
    this.last = Math.max(this.last, second);
    return second % HISTORY_SECONDS;
  }
}
