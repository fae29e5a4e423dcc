import { askStream, fetchJson, Refusal } from '../api/api.ts';
import { Backoff } from '../stream/backoff.ts';
import { strings } from '../strings/strings.ts';
import { isFields, valuesOf } from '../wire/fields.ts';
import { alarmSource, feedProblem } from './book.ts';
import { AlarmBook } from './collector.ts';
import { EventStreamParser } from './event_stream.ts';
import { alarmsRaised, isLoud } from './tab_alarms.ts';

const words = strings.alarms;

/** Changes of this time are shown together. */
const SHOW_MS = 100;
/** A stream that says nothing for so long is broken: the DAC sends a comment every 15 s. */
const SILENT_MS = 45_000;
/** A stream that has not begun after this time is held back by a proxy. */
const BEGIN_MS = 8000;
/** Pause between two lists of a page that cannot or should not keep a stream open. */
const POLL_MS = 5000;
const PAGE = 1000;
/** Most pages of a list. */
const MAX_PAGES = 20;

/** How a stream has ended. */
type Ending = 'ended' | 'held-back' | 'absent' | 'hidden';

/**
 * Reads alarms until it is ended, or until the DAC says that it has none. A hidden page asks from time to time: browsers open
 * six requests to a server at most, and each stream is one.
 */
export async function readAlarms(signal: AbortSignal): Promise<void> {
  const backoff = new Backoff();
  const feed = new Feed(new AlarmBook());
  let isHeldBack = false;
  while (!signal.aborted) {
    try {
      const isPolled: boolean = isHeldBack || isUnseen();
      const ending: Ending = isPolled
        ? await feed.poll(signal)
        : await feed.stream(signal, () => backoff.reset());
      if (ending === 'absent') return;
      isHeldBack ||= ending === 'held-back';
      if (isPolled) await pause(POLL_MS, signal, !isHeldBack);
      else if (ending === 'ended') await pause(backoff.next(), signal);
    } catch (error) {
      if (signal.aborted) return;
      feedProblem.value = error instanceof Error ? error.message : String(error);
      await pause(Math.max(backoff.next(), error instanceof Refusal ? POLL_MS : 0), signal);
    }
  }
}

/** Whether nobody sees the page and nobody wants to hear it. */
function isUnseen(): boolean {
  return document.hidden && !isLoud.peek();
}

class Feed {
  private lastId = '';
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly book: AlarmBook) {}

  /** Reads the whole list. */
  async poll(signal: AbortSignal): Promise<Ending> {
    try {
      let after = '';
      for (let page = 0; page < MAX_PAGES; page++) {
        const query = new URLSearchParams({ state: 'all', limit: String(PAGE), ...(after && { after }) });
        const answer = await fetchJson('GET', `alarms?${query}`, { signal });
        const { alarms, next } = isFields(answer) ? answer : {};
        after = typeof next === 'string' || typeof next === 'number' ? String(next) : '';
        this.book.takePage(valuesOf(alarms), after === '' || page === MAX_PAGES - 1);
        if (after === '') break;
      }
    } catch (error) {
      this.book.forgetPages();
      if (isAbsent(error)) return this.absent(error);
      throw error;
    }
    // A list has no number from which a stream could continue.
    this.lastId = '';
    this.present();
    return 'ended';
  }

  /** Reads the stream of changes until it ends. */
  async stream(signal: AbortSignal, begun: () => void): Promise<Ending> {
    const end = new AbortController();
    const both = AbortSignal.any([signal, end.signal]);
    const headers: Record<string, string> = this.lastId ? { 'last-event-id': this.lastId } : {};
    const stopWatching = whenUnseen(() => end.abort());
    let isBegun = false;
    let quiet = setTimeout(() => end.abort(), BEGIN_MS);
    try {
      const body = await askStream('alarms/events', headers, both, BEGIN_MS);
      const reader = body
        .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
        .getReader();
      const parser = new EventStreamParser();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return 'ended';
        clearTimeout(quiet);
        quiet = setTimeout(() => end.abort(), SILENT_MS);
        isBegun = true;
        begun();
        for (const event of parser.push(value)) this.take(event.name, event.data, event.id);
      }
    } catch (error) {
      if (isAbsent(error)) return this.absent(error);
      if (signal.aborted) return 'ended';
      if (isUnseen()) return 'hidden';
      const isLate = both.aborted || (error instanceof DOMException && error.name === 'TimeoutError');
      if (isLate) return isBegun ? 'ended' : 'held-back';
      throw error;
    } finally {
      this.book.forgetPages();
      clearTimeout(quiet);
      stopWatching();
      end.abort();
    }
  }

  private take(name: string, data: string, id: string | undefined): void {
    const json: unknown = JSON.parse(data);
    if (!isFields(json)) return;
    if (name === 'alarms') {
      const isLast = json.next === undefined || json.next === null;
      this.book.takePage(valuesOf(json.alarms), isLast);
      if (!isLast) return;
    } else if (name === 'alarm') this.book.takeChange(json);
    else return;
    if (id !== undefined) this.lastId = id;
    this.timer ??= setTimeout(() => this.present(), SHOW_MS);
  }

  private present(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    feedProblem.value = '';
    const isFirst = alarmSource.peek().kind !== 'server';
    const raised = this.book.show();
    if (isFirst) alarmSource.value = { kind: 'server' };
    // Alarms raised before the page was opened are no news.
    else if (raised.length > 0) alarmsRaised(words.raisedSentence(raised[0].rule, raised[0].instance));
  }

  private absent(error: Refusal): Ending {
    feedProblem.value = '';
    alarmSource.value = { kind: 'tab', reason: error.message };
    return 'absent';
  }
}

/** Whether a DAC has no alarms: it does not know of them, or it has no directory for them. */
function isAbsent(error: unknown): error is Refusal {
  if (!(error instanceof Refusal)) return false;
  return error.status === 404 || error.code === 'no_alarms';
}

/** Calls back when nobody sees the page any more. Returns a function that ends this. */
function whenUnseen(act: () => void): () => void {
  const look = () => isUnseen() && act();
  document.addEventListener('visibilitychange', look);
  return () => document.removeEventListener('visibilitychange', look);
}

/** Waits; `untilSeen` ends it when somebody looks at the page. */
function pause(ms: number, signal: AbortSignal, untilSeen = false): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      document.removeEventListener('visibilitychange', look);
      resolve();
    };
    const look = () => untilSeen && !isUnseen() && done();
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    document.addEventListener('visibilitychange', look);
  });
}
