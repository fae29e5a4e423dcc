import type { TrafficView } from './view.ts';

const SPAN_MS = 1000;

/** Counts received bytes and messages per second. */
export class Traffic {
  private bytes = 0;
  private messages = 0;
  private total = 0;
  private since = 0;

  add(bytes: number): void {
    this.bytes += bytes;
    this.messages++;
    this.total += bytes;
  }

  /** Returns the figures of the last second once it is over. */
  drain(now: number): TrafficView | undefined {
    const span = now - this.since;
    if (span < SPAN_MS) return undefined;
    const view = {
      bytesPerSecond: (1000 * this.bytes) / span,
      messagesPerSecond: (1000 * this.messages) / span,
      bytes: this.total,
    };
    const isFirst = this.since === 0;
    [this.bytes, this.messages, this.since] = [0, 0, now];
    return isFirst ? undefined : view;
  }
}
