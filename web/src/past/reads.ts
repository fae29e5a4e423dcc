import type { Target } from '../wire/target.ts';
import { keyOf } from '../wire/target.ts';

/** Minimum time before a request replaces one without an answer: a slow DAC gets few requests while somebody scrolls. */
const PAUSE_MS = 150;
/** The same if the first is answered, for each thing that is shown: a jump is drawn at once, and many charts stay below the DAC's limit of requests. */
const ANSWERED_PAUSE_MS = 15;
/** Least time between two requests for one thing. */
const LEAST_PAUSE_MS = 30;
/** Pause after a failed request. */
const RETRY_MS = 5000;
/** How long an answer stays without a view, so that a panel that returns to the front starts with it. */
const KEEP_MS = 10_000;
/** Status of a refused message with too many values: docs/reference/text-doors.md. */
const TOO_WIDE = 422;
/** How often a request is halved at most if its answer is too large. */
const MAX_HALVINGS = 8;

/** State of a request to the archive. */
export type ReadState = 'reading' | 'ready' | 'failed';

/** State of the archive's part of an answer; `none` if the archive has nothing for it. */
export type PastState = 'none' | ReadState;

/** Sends requests to the DAC and returns the number of each. */
export interface Requester {
  send(path: string, take: (answer: unknown, status: number, now: number) => void): number;
  cancel(id: number | undefined): void;
  /** Called after each answer. */
  onAnswer(): void;
}

/** How requests of one kind are sent, and their answers parsed. */
export interface RequestKind<Q, T> {
  /** Widens a request, so that not every step needs another one. */
  widen(request: Q): Q;
  /** Returns the path of a request that has been halved `halvings` times. */
  path(target: Target, request: Q, halvings: number): string;
  /** Parses an answer: undefined if it is invalid, `too-much` if the request must be halved. */
  parse(answer: unknown, target: Target, request: Q, halvings: number): T | 'too-much' | undefined;
  covers(answered: Q, request: Q): boolean;
  /** Whether a result of another request has everything that this one asks for. */
  contains?(result: T, request: Q): boolean;
}

interface Entry<Q, T> {
  readonly target: Target;
  /** Numbers of the views that show the answer, and since when there are none. */
  readonly views: Set<number>;
  idleSince: number | undefined;
  request: Q;
  result: T | undefined;
  /** The request that `result` answers. */
  answered: Q | undefined;
  pending: { readonly id: number; readonly request: Q } | undefined;
  sentAt: number;
  retryAt: number;
  halvings: number;
}

/**
 * Sends one request at a time for each thing, and cancels it if another one is needed. Memory is bounded by the shown
 * views: an answer is dropped after {@link KEEP_MS} without a view.
 */
export class Reads<Q, T> {
  private readonly entries = new Map<string, Entry<Q, T>>();

  constructor(
    private readonly requester: Requester,
    private readonly kind: RequestKind<Q, T>,
  ) {}

  /**
   * Returns the present answer for a view and requests the missing part until the view closes. `variant` separates
   * requests for one instance.
   */
  read(
    view: number,
    target: Target,
    variant: string,
    request: Q,
    now: number,
  ): { readonly result: T | undefined; readonly state: ReadState } {
    const key = `${keyOf(target)} ${variant}`;
    let entry = this.entries.get(key);
    if (!entry) {
      entry = {
        target,
        views: new Set(),
        idleSince: undefined,
        request,
        result: undefined,
        answered: undefined,
        pending: undefined,
        sentAt: Number.NEGATIVE_INFINITY,
        retryAt: Number.NEGATIVE_INFINITY,
        halvings: 0,
      };
      this.entries.set(key, entry);
    }
    entry.views.add(view);
    entry.idleSince = undefined;
    entry.request = request;
    this.send(entry, now);
    const isReady = this.isAnswered(entry);
    const state = isReady ? 'ready' : now < entry.retryAt ? 'failed' : 'reading';
    return { result: entry.result, state };
  }

  /** Handles that a view was closed. */
  closeView(view: number): void {
    for (const entry of this.entries.values()) entry.views.delete(view);
  }

  tick(now: number): void {
    for (const [key, entry] of [...this.entries]) {
      if (entry.views.size > 0) {
        this.send(entry, now);
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
      else if (this.isNeeded(entry)) due = Math.min(due, this.earliest(entry));
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

  private remove(key: string, entry: Entry<Q, T>): void {
    this.requester.cancel(entry.pending?.id);
    this.entries.delete(key);
  }

  /** Whether neither the present answer nor the pending request covers the needed one. */
  private isNeeded(entry: Entry<Q, T>): boolean {
    const { request, pending } = entry;
    return !this.isAnswered(entry) && !(pending && this.kind.covers(pending.request, request));
  }

  private isAnswered({ request, answered, result }: Entry<Q, T>): boolean {
    const { kind } = this;
    if (answered !== undefined && kind.covers(answered, request)) return true;
    return result !== undefined && kind.contains?.(result, request) === true;
  }

  private send(entry: Entry<Q, T>, now: number): void {
    if (!this.isNeeded(entry) || now < this.earliest(entry)) return;
    this.requester.cancel(entry.pending?.id);
    const request = this.kind.widen(entry.request);
    const { target, halvings } = entry;
    entry.sentAt = now;
    const id = this.requester.send(this.kind.path(target, request, halvings), (answer, status, then) => {
      entry.pending = undefined;
      const result = status === TOO_WIDE ? 'too-much' : this.kind.parse(answer, target, request, halvings);
      if (result === 'too-much' && entry.halvings < MAX_HALVINGS) entry.halvings++;
      else if (result === 'too-much' || result === undefined) entry.retryAt = then + RETRY_MS;
      else [entry.result, entry.answered] = [result, request];
      this.requester.onAnswer();
    });
    entry.pending = { id, request };
  }

  /** When the next request for an entry may be sent. */
  private earliest({ pending, sentAt, retryAt }: Entry<Q, T>): number {
    const shared = Math.max(LEAST_PAUSE_MS, this.entries.size * ANSWERED_PAUSE_MS);
    return Math.max(sentAt + (pending ? PAUSE_MS : Math.min(shared, PAUSE_MS)), retryAt);
  }
}
