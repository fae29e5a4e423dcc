import type { ScoutAnswer, ScoutQuestion } from './messages.ts';

/** A scout that does not answer for this time is gone, milliseconds: it has some seconds for three addresses. */
const PATIENCE_MS = 3000;

/** The scout of the page. Its policy is that of the moment at which it was loaded, so each list of addresses has one of its own. */
export class Scouts {
  private current: Worker | undefined;
  private addresses = '';
  private lastId = 0;
  private readonly waiting = new Map<number, (found: string | undefined) => void>();

  constructor(private readonly start: () => Worker) {}

  /** Loads a scout that may ask these addresses. The one before stays until it is there. */
  follow(addresses: readonly string[]): void {
    const wanted = [...addresses].sort().join(' ');
    if (wanted === this.addresses) return;
    this.addresses = wanted;
    if (wanted === '') {
      this.replace(undefined);
      return;
    }
    const fresh = this.start();
    fresh.onerror = () => {
      fresh.terminate();
      // The next list tries again.
      if (this.addresses === wanted) this.addresses = '';
    };
    fresh.onmessage = (event: MessageEvent<'ready' | ScoutAnswer>) => {
      if (event.data !== 'ready') this.answered(event.data);
      else if (this.addresses === wanted) this.replace(fresh);
      else fresh.terminate();
    };
  }

  /** Returns the first of these addresses that works; undefined if none does, or if there is no scout. */
  async firstAlive(addresses: readonly string[]): Promise<string | undefined> {
    const { current } = this;
    if (!current || addresses.length === 0) return undefined;
    this.lastId++;
    const id = this.lastId;
    const question: ScoutQuestion = { id, addresses };
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      setTimeout(() => this.answered({ id, found: undefined }), PATIENCE_MS);
      current.postMessage(question);
    });
  }

  private answered({ id, found }: ScoutAnswer): void {
    this.waiting.get(id)?.(found);
    this.waiting.delete(id);
  }

  private replace(next: Worker | undefined): void {
    this.current?.terminate();
    this.current = next;
  }
}
