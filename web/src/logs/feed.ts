import { type ReadonlySignal, signal } from '@preact/signals';
import { type LogFilter, type LogPage, type LogRecord, searchRecords } from './search.ts';

/** Records of a page. */
const PAGE = 100;
/** Records that are shown at most. */
export const MOST_RECORDS = 5000;

/** Records found by a search so far. */
export interface LogRecords {
  /** Newest first. */
  readonly records: readonly LogRecord[];
  readonly searched: number;
  readonly unreadable: number;
  readonly notSearched: number;
  /** How far it has come; undefined if it has come to the end. */
  readonly reached: number | undefined;
  readonly next: string | undefined;
}

function isSame(one: LogFilter, other: LogFilter): boolean {
  const keys = Object.keys({ ...one, ...other }) as (keyof LogFilter)[];
  return keys.every((key) => one[key] === other[key]);
}

const NOTHING: LogRecords = {
  records: [],
  searched: 0,
  unreadable: 0,
  notSearched: 0,
  reached: undefined,
  next: undefined,
};

type Read = typeof searchRecords;

/** Searches page by page, and follows what is new. */
export class LogFeed {
  readonly found: ReadonlySignal<LogRecords>;
  readonly isBusy: ReadonlySignal<boolean>;
  readonly problem: ReadonlySignal<string>;
  private readonly state = signal<LogRecords>(NOTHING);
  private readonly busy = signal(false);
  private readonly trouble = signal('');
  private filter: LogFilter | undefined;
  private running: AbortController | undefined;
  /** The request of {@link follow}, which gives way to what a person wants. */
  private following: AbortController | undefined;

  constructor(private readonly read: Read = searchRecords) {
    this.found = this.state;
    this.isBusy = this.busy;
    this.problem = this.trouble;
  }

  /** Begins a search; the one before ends. The pages of the same search stay: a panel may only have become visible again. */
  async search(filter: LogFilter): Promise<void> {
    const before = this.filter;
    if (before && this.state.peek().records.length > 0 && isSame(filter, before)) return this.follow();
    this.filter = filter;
    await this.run(async (signal) => {
      let page = await this.read(filter, PAGE, undefined, signal);
      this.state.value = { ...page };
      // Something rare takes several requests.
      while (page.records.length === 0 && page.next !== undefined && !signal.aborted) {
        page = await this.read(filter, PAGE, page.next, signal);
        this.append(page);
      }
    });
  }

  /** Reads the next page. */
  async more(): Promise<void> {
    const { filter } = this;
    const { next } = this.state.peek();
    const isBusy = this.busy.peek() && this.running !== this.following;
    if (!filter || next === undefined || isBusy) return;
    await this.run(async (signal) => {
      let after: string | undefined = next;
      const before = this.state.peek().records.length;
      while (after !== undefined && !signal.aborted) {
        const page: LogPage = await this.read(filter, PAGE, after, signal);
        this.append(page);
        after = this.state.peek().records.length > before ? undefined : page.next;
      }
    });
  }

  /** Puts what is new before what is shown. */
  async follow(): Promise<void> {
    const { filter } = this;
    if (!filter || this.busy.peek()) return;
    const followed = this.run(async (signal) => {
      const page = await this.read(filter, PAGE, undefined, signal);
      if (signal.aborted) return;
      const { records, ...shown } = this.state.peek();
      const known = new Set(records.map(({ key }) => key));
      const fresh = page.records.filter(({ key }) => !known.has(key));
      if (fresh.length === 0) return;
      // Between a page of new records and what is shown may be others.
      if (fresh.length === page.records.length && page.next !== undefined) this.state.value = { ...page };
      else {
        const all = [...fresh, ...records];
        const isCut = all.length > MOST_RECORDS;
        this.state.value = {
          ...shown,
          searched: shown.searched + fresh.length,
          records: all.slice(0, MOST_RECORDS),
          ...(isCut && { next: undefined }),
        };
      }
    });
    this.following = this.running;
    await followed;
  }

  stop(): void {
    this.running?.abort();
  }

  private append(page: LogPage): void {
    const before = this.state.peek();
    const records = [...before.records, ...page.records].slice(0, MOST_RECORDS);
    this.state.value = {
      ...page,
      records,
      searched: before.searched + page.searched,
      unreadable: before.unreadable + page.unreadable,
      next: records.length < MOST_RECORDS ? page.next : undefined,
    };
  }

  private async run(task: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.running?.abort();
    const own = new AbortController();
    this.running = own;
    this.busy.value = true;
    try {
      await task(own.signal);
      if (this.running === own) this.trouble.value = '';
    } catch (error) {
      if (!own.signal.aborted) this.trouble.value = error instanceof Error ? error.message : String(error);
    } finally {
      if (this.running === own) this.busy.value = false;
    }
  }
}
