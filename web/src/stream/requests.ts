/** Beyond what any answer takes; the DAC, or a proxy before it, may take a request and fall silent. */
const PATIENCE_MS = 20_000;

/** Requests by HTTP that are under way: each comes to an end within its patience, with an answer or without. */
export class Requests {
  private readonly underWay = new Map<number, AbortController>();

  /** `answered` gets the number of a request, the JSON it was answered with, and the status; nothing and 0 if there was none. */
  constructor(
    private readonly answered: (id: number, answer: unknown, status: number) => void,
    private readonly patience = PATIENCE_MS,
  ) {}

  async ask(id: number, url: URL): Promise<void> {
    const end = new AbortController();
    this.underWay.set(id, end);
    const signal = AbortSignal.any([end.signal, AbortSignal.timeout(this.patience)]);
    let [answer, status]: [unknown, number] = [undefined, 0];
    try {
      const response = await fetch(url, { cache: 'no-store', signal });
      [answer, status] = [await response.json(), response.status];
    } catch {
      // Whoever asked asks again, or not.
    }
    if (this.underWay.delete(id)) this.answered(id, answer, status);
  }

  /** Gives one up: nothing comes of it any more. */
  drop(id: number): void {
    const end = this.underWay.get(id);
    this.underWay.delete(id);
    end?.abort();
  }
}
