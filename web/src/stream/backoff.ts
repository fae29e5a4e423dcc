const FIRST_MS = 100;
const CAP_MS = 1000;

/** The pause before the next attempt: it doubles up to a cap, with jitter so that many pages do not reconnect at once. */
export class Backoff {
  attempts = 0;

  constructor(private readonly random: () => number = Math.random) {}

  next(): number {
    const whole = Math.min(CAP_MS, FIRST_MS * 2 ** this.attempts);
    this.attempts++;
    return whole * (0.5 + this.random() / 2);
  }

  reset(): void {
    this.attempts = 0;
  }
}
