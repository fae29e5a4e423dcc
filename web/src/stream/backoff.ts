const FIRST_MS = 100;
const CAP_MS = 1000;

/** How long to wait before the next attempt: doubling to a cap, with jitter so that many pages do not come back at once. */
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
