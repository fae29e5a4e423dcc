/**
 * Runs a task soon after it is asked for, one run at a time. However often it is asked for, it is neither put off nor canceled:
 * changes that never stop are shown, too. Times are milliseconds.
 */
export class Soon {
  private readonly end = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isRunning = false;
  private isAsked = false;
  private ended = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly task: (signal: AbortSignal) => Promise<void>,
    /** Between the first request and the run: further changes are often near. */
    private readonly pause: number,
    /** Least time between two runs. */
    private readonly rest = 0,
  ) {}

  ask(): void {
    this.isAsked = true;
    if (this.isRunning || this.timer !== undefined || this.end.signal.aborted) return;
    const pause = Math.max(this.pause, this.ended + this.rest - performance.now());
    this.timer = setTimeout(() => void this.run(), pause);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.end.abort();
  }

  private async run(): Promise<void> {
    this.timer = undefined;
    this.isAsked = false;
    this.isRunning = true;
    try {
      await this.task(this.end.signal);
    } finally {
      this.isRunning = false;
      this.ended = performance.now();
      if (this.isAsked) this.ask();
    }
  }
}
