/** Receives the messages of a text door; each implementation has its own way to wait for them. */
export interface Feed {
  close(): void;
}

export interface FeedEvents {
  opened(): void;
  /** A message of the door, as JSON. */
  message(data: string): void;
  failed(): void;
}

/** Timeout for the first byte: a proxy that holds back the stream makes this door useless. */
const OPEN_MS = 4000;

/** Server-sent events. */
export class EventFeed implements Feed {
  private readonly source: EventSource;
  private readonly timeout: ReturnType<typeof setTimeout>;

  constructor(api: URL, query: URLSearchParams, events: FeedEvents) {
    this.source = new EventSource(new URL(`samples/events?${query}`, api));
    this.timeout = setTimeout(() => {
      this.close();
      events.failed();
    }, OPEN_MS);
    this.source.onopen = () => {
      clearTimeout(this.timeout);
      events.opened();
    };
    // An event source reconnects by itself, but here its owner decides when.
    this.source.onerror = () => {
      this.close();
      events.failed();
    };
    for (const kind of ['samples', 'gap', 'type_changed', 'end']) {
      this.source.addEventListener(kind, (event) => events.message((event as MessageEvent<string>).data));
    }
  }

  close(): void {
    clearTimeout(this.timeout);
    this.source.close();
  }
}

const POLL_SECONDS = 20;

/** Long polls, one after another. */
export class PollFeed implements Feed {
  private readonly stop = new AbortController();

  constructor(
    private readonly api: URL,
    private readonly query: URLSearchParams,
    private readonly events: FeedEvents,
  ) {
    void this.run();
  }

  close(): void {
    this.stop.abort();
  }

  private async run(): Promise<void> {
    const query = new URLSearchParams(this.query);
    query.set('timeout', String(POLL_SECONDS));
    try {
      while (!this.stop.signal.aborted) {
        const answer = await fetch(new URL(`samples/wait?${query}`, this.api), {
          cache: 'no-store',
          signal: this.stop.signal,
        });
        if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
        this.events.opened();
        const { messages, next } = (await answer.json()) as { messages: unknown[]; next: string };
        query.set('resume', next);
        for (const message of messages) this.events.message(JSON.stringify(message));
      }
    } catch {
      if (!this.stop.signal.aborted) this.events.failed();
    }
  }
}
