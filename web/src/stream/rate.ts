const ENTRIES = 64;
/** Closer entries are merged, so that the ring spans one second at any rate. */
const SPACING_MS = 20;
const SPAN_MS = 1000;
const SAMPLES = 8;
const SLACK_MS = 250;
const FORGET_MS = 10_000;

/**
 * Measures samples per second over the last second or the last eight samples, whichever reaches further back. It uses the
 * times of the samples, so that delays on the way do not blur the rate, and the wall clock to notice silence.
 */
export class RateMeter {
  private times: number[] = [];
  private totals: number[] = [];
  private total = 0;
  private arrived = 0;

  add(time: number, samples: number, now: number): void {
    const last = this.times.length - 1;
    if (last >= 0 && time <= this.times[last]) this.reset();
    this.total += samples;
    this.arrived = now;
    const isClose = this.times.length > 1 && time - this.times[last - 1] < SPACING_MS;
    if (isClose) {
      this.times[last] = time;
      this.totals[last] = this.total;
      return;
    }
    this.times.push(time);
    this.totals.push(this.total);
    if (this.times.length > ENTRIES) {
      this.times.shift();
      this.totals.shift();
    }
  }

  /** Starts over, as after a change of the rate. */
  reset(): void {
    this.times = [];
    this.totals = [];
  }

  rate(now: number): number | undefined {
    const last = this.times.length - 1;
    if (last < 1) return undefined;
    let first = last - 1;
    while (
      first > 0 &&
      (this.times[last] - this.times[first] < SPAN_MS || this.totals[last] - this.totals[first] < SAMPLES)
    ) {
      first--;
    }
    const samples = this.totals[last] - this.totals[first];
    const span = this.times[last] - this.times[first];
    const interval = span / samples;
    const silence = now - this.arrived;
    if (silence > Math.max(FORGET_MS, 3 * interval)) return 0;
    const overdue = silence > 1.5 * interval + SLACK_MS ? silence - interval : 0;
    return (1000 * samples) / (span + overdue);
  }
}
