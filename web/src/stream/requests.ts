/** Timeout, longer than any answer takes: the DAC, or a proxy in front of it, may accept a request and fall silent. */
const TIMEOUT_MS = 20_000;

/** Pending HTTP requests. Each ends within the timeout, with or without an answer. */
export class Requests {
  private readonly pending = new Map<number, AbortController>();

  /** `answered` receives the number of a request, its JSON and its status; undefined and 0 if there was no answer. */
  constructor(
    private readonly answered: (id: number, answer: unknown, status: number) => void,
    private readonly timeoutMs = TIMEOUT_MS,
  ) {}

  async send(id: number, url: URL): Promise<void> {
    const end = new AbortController();
    this.pending.set(id, end);
    const signal = AbortSignal.any([end.signal, AbortSignal.timeout(this.timeoutMs)]);
    let [answer, status]: [unknown, number] = [undefined, 0];
    try {
      const response = await fetch(url, { cache: 'no-store', signal });
      [answer, status] = [await response.json(), response.status];
    } catch {
      // The caller decides whether to retry.
    }
    if (this.pending.delete(id)) this.answered(id, answer, status);
  }

  /** Cancels a request; `answered` is not called for it. */
  cancel(id: number): void {
    const end = this.pending.get(id);
    this.pending.delete(id);
    end?.abort();
  }
}
