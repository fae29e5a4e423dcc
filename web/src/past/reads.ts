import type { ReadState } from '../stream/query.ts';
import type { Target } from '../stream/view.ts';
import { keyOf } from '../stream/view.ts';

/** Minimum time between two requests for one thing while somebody scrolls through time. */
const PAUSE_MS = 150;
/** Pause after a failed request. */
const RETRY_MS = 5000;
/** How long an answer stays without a view, so that a panel that returns to the front starts with it. */
const KEEP_MS = 10_000;
/** Status of a refused message with too many values: docs/reference/text-doors.md. */
const TOO_WIDE = 422;
/** How often a request is halved at most if its answer is too large. */
const MOST_HALVINGS = 8;

/** Sends requests to the DAC and returns the number of each. */
export interface Requester {
  ask(path: string, take: (answer: unknown, status: number, now: number) => void): number;
  giveUp(id: number | undefined): void;
  /** Called after each answer. */
  changed(): void;
}

/** How requests of one kind are sent, and their answers parsed. */
export interface Manner<W, T> {
  /** Widens a request, so that not every step needs another one. */
  widened(wish: W): W;
  /** Returns the path of a request that has been halved `halvings` times. */
  path(target: Target, wish: W, halvings: number): string;
  /** Parses an answer: undefined if it is invalid, `too-much` if the request must be halved. */
  parse(answer: unknown, target: Target, wish: W, halvings: number): T | 'too-much' | undefined;
  suffices(got: W, wish: W): boolean;
}

interface Entry<W, T> {
  readonly target: Target;
  /** Numbers of the views that show the answer, and since when there are none. */
  readonly views: Set<number>;
  idleSince: number | undefined;
  wish: W;
  found: T | undefined;
  /** The request that `result` answers. */
  got: W | undefined;
  asked: { readonly id: number; readonly wish: W } | undefined;
  askedAt: number;
  retryAt: number;
  halvings: number;
}

/**
 * Sends one request at a time for each thing, and cancels it if another one is needed. Memory is bounded by the shown
 * views: an answer is dropped after {@link KEEP_MS} without a view.
 */
export class Reads<W, T> {
  private readonly entries = new Map<string, Entry<W, T>>();

  constructor(
    private readonly requester: Requester,
    private readonly manner: Manner<W, T>,
  ) {}

  /**
   * Returns the present answer for a view and requests the missing part until the view closes. `variant` separates
   * requests for one instance.
   */
  read(
    view: number,
    target: Target,
    variant: string,
    wish: W,
    now: number,
  ): { readonly found: T | undefined; readonly state: ReadState } {
    const key = `${keyOf(target)} ${variant}`;
    let entry = this.entries.get(key);
    if (!entry) {
      entry = {
        target,
        views: new Set(),
        idleSince: undefined,
        wish,
        found: undefined,
        got: undefined,
        asked: undefined,
        askedAt: Number.NEGATIVE_INFINITY,
        retryAt: Number.NEGATIVE_INFINITY,
        halvings: 0,
      };
      this.entries.set(key, entry);
    }
    entry.views.add(view);
    entry.idleSince = undefined;
    entry.wish = wish;
    this.pursue(entry, now);
    const isReady = entry.got !== undefined && this.manner.suffices(entry.got, wish);
    const state = isReady ? 'ready' : now < entry.retryAt ? 'failed' : 'reading';
    return { found: entry.found, state };
  }

  /** Handles that a view was closed. */
  leave(view: number): void {
    for (const entry of this.entries.values()) entry.views.delete(view);
  }

  tick(now: number): void {
    for (const [key, entry] of [...this.entries]) {
      if (entry.views.size > 0) {
        this.pursue(entry, now);
        continue;
      }
      entry.idleSince ??= now;
      if (now >= entry.idleSince + KEEP_MS) this.remove(key, entry);
    }
  }

  /** Returns when {@link tick} has work to do. */
  nextDue(): number {
    let due = Number.POSITIVE_INFINITY;
    for (const entry of this.entries.values()) {
      if (entry.views.size === 0) due = Math.min(due, (entry.idleSince ?? 0) + KEEP_MS);
      else if (this.isMissing(entry)) due = Math.min(due, Math.max(entry.askedAt + PAUSE_MS, entry.retryAt));
    }
    return due;
  }

  /** Drops everything about an instance that no view shows any more. */
  forget(target: Target): void {
    for (const [key, entry] of [...this.entries]) {
      if (keyOf(entry.target) === keyOf(target)) this.remove(key, entry);
    }
  }

  clear(): void {
    this.entries.clear();
  }

  private remove(key: string, entry: Entry<W, T>): void {
    this.requester.giveUp(entry.asked?.id);
    this.entries.delete(key);
  }

  /** Whether neither the present answer nor the pending request covers the needed one. */
  private isMissing({ wish, got, asked }: Entry<W, T>): boolean {
    const { suffices } = this.manner;
    return !(got && suffices(got, wish)) && !(asked && suffices(asked.wish, wish));
  }

  private pursue(entry: Entry<W, T>, now: number): void {
    if (!this.isMissing(entry) || now < entry.askedAt + PAUSE_MS || now < entry.retryAt) return;
    this.requester.giveUp(entry.asked?.id);
    const wish = this.manner.widened(entry.wish);
    const { target, halvings } = entry;
    entry.askedAt = now;
    const id = this.requester.ask(this.manner.path(target, wish, halvings), (answer, status, then) => {
      entry.asked = undefined;
      const found = status === TOO_WIDE ? 'too-much' : this.manner.parse(answer, target, wish, halvings);
      if (found === 'too-much' && entry.halvings < MOST_HALVINGS) entry.halvings++;
      else if (found === 'too-much' || found === undefined) entry.retryAt = then + RETRY_MS;
      else [entry.found, entry.got] = [found, wish];
      this.requester.changed();
    });
    entry.asked = { id, wish };
  }
}
