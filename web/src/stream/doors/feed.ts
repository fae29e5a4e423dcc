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

/** Lines of one answer without an end. */
export class StreamFeed implements Feed {
  private readonly stop = new AbortController();
  private isClosed = false;

  constructor(
    private readonly api: URL,
    private readonly query: URLSearchParams,
    private readonly events: FeedEvents,
  ) {
    void this.run();
  }

  close(): void {
    this.isClosed = true;
    this.stop.abort();
  }

  private async run(): Promise<void> {
    const timeout = setTimeout(() => this.stop.abort(), OPEN_MS);
    try {
      const answer = await fetch(new URL(`samples/stream?${this.query}`, this.api), {
        cache: 'no-store',
        signal: this.stop.signal,
      });
      if (!answer.ok || !answer.body) throw new Error(`HTTP ${answer.status}`);
      clearTimeout(timeout);
      this.events.opened();
      await this.read(answer.body);
    } catch {
      // The stream ends below, as it does without an error.
    }
    clearTimeout(timeout);
    if (!this.isClosed) this.events.failed();
  }

  private async read(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      // A keep-alive message is a line without text.
      for (const line of lines) if (line !== '') this.events.message(line);
    }
  }
}

const POLL_SECONDS = 20;
/** Between two polls. */
export const POLL_REST_MS = 200;

/** Polls, one after another. */
abstract class Polls implements Feed {
  private readonly stop = new AbortController();

  constructor(
    private readonly api: URL,
    private readonly query: URLSearchParams,
    private readonly events: FeedEvents,
    private readonly path: string,
    private readonly restMs: number,
  ) {
    void this.run();
  }

  close(): void {
    this.stop.abort();
  }

  private async run(): Promise<void> {
    const query = new URLSearchParams(this.query);
    try {
      while (!this.stop.signal.aborted) {
        const answer = await fetch(new URL(`${this.path}?${query}`, this.api), {
          cache: 'no-store',
          signal: this.stop.signal,
        });
        if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
        this.events.opened();
        const { messages, next } = (await answer.json()) as { messages: unknown[]; next: string };
        query.set('resume', next);
        for (const message of messages) this.events.message(JSON.stringify(message));
        if (this.restMs > 0) await new Promise((resolve) => setTimeout(resolve, this.restMs));
      }
    } catch {
      if (!this.stop.signal.aborted) this.events.failed();
    }
  }
}

/** Long polls: an answer as soon as there is something. */
export class WaitFeed extends Polls {
  constructor(api: URL, query: URLSearchParams, events: FeedEvents) {
    const waiting = new URLSearchParams(query);
    waiting.set('timeout', String(POLL_SECONDS));
    super(api, waiting, events, 'samples/wait', 0);
  }
}

/** Polls with a rest between them. */
export class PollFeed extends Polls {
  constructor(api: URL, query: URLSearchParams, events: FeedEvents) {
    super(api, query, events, 'samples', POLL_REST_MS);
  }
}
