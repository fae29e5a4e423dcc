import { type Fields, isFields, listOf } from '../fields.ts';
import { keyOf, type Target } from '../stream/view.ts';
import { type Points, parsePoints } from './points.ts';

/** How far apart requests are at least while somebody moves through time. */
const PAUSE_MS = 150;
/** After an answer that was none. */
const RETRY_MS = 5000;
/** Until an instance that was not in the archive may be there. */
const RELOOK_MS = 2000;
/** How long what no chart shows any more is kept: one that shows another time, or comes back to the front, begins with it. */
const KEEP_MS = 10_000;
/** How often it is looked for in vain without anybody who wants something of it. */
const LOOKS = 4;
/** What is fetched beyond each end of what is shown, as a share of it: small steps need no answer. */
const MARGIN = 0.5;
/** Stretches so much longer than pixels are good enough. */
const COARSE = 1.5;
const MOST_POINTS = 4000;
const FEWEST_POINTS = 50;
const OK = 200;
/** A message of so many values is refused: docs/reference/text-doors.md. */
const TOO_WIDE = 422;
const MILLION = 1_000_000n;

/** Asks the DAC by HTTP: `ask` returns a number that the answer comes with, `drop` gives it up. */
export interface Asker {
  ask(path: string): number;
  drop(id: number): void;
}

/** What a chart shows of the time before what is remembered; milliseconds by the node's clock. */
export interface Wish {
  readonly from: number;
  readonly to: number;
  /** Of pixels. */
  readonly columns: number;
}

export type PastState = 'none' | 'reading' | 'ready' | 'failed';

/** What is known of one instance's past, for one of the ranges that are shown. */
interface Entry {
  readonly target: Target;
  /** Numbers of the charts that show it, and since when there are none. */
  readonly charts: Set<number>;
  idleSince: number | undefined;
  wish: Wish | undefined;
  points: Points | undefined;
  /** What the points were asked for. */
  got: Wish | undefined;
  asked: { readonly id: number; readonly wish: Wish } | undefined;
  askedAt: number;
  retryAt: number;
  /** Halved when a type has too many metrics. */
  most: number;
}

/** Whether an instance is in the archive, and since when. */
interface Reach {
  readonly target: Target;
  /** How often it was looked for in vain. */
  tries: number;
  state: 'unknown' | 'absent' | 'there';
  /** Whether there was no answer the last time. */
  hasFailed: boolean;
  /** When it was answered, or not. */
  at: number;
  asked: number | undefined;
  /** Milliseconds by the node's clock. */
  oldest: number | undefined;
}

/**
 * Reads what charts show of the past from the DAC's archive: one request at a time for each instance and range, given up as soon
 * as something else is shown. What it has is bounded by what is shown: a request has at most {@link MOST_POINTS}, and its answer
 * goes when no chart has shown it for {@link KEEP_MS}.
 */
export class ArchiveReader {
  /** Grows with each answer: whoever shows this compares. */
  version = 0;
  private readonly entries = new Map<string, Entry>();
  private readonly reaches = new Map<string, Reach>();
  private readonly waiting = new Map<number, (answer: unknown, status: number, now: number) => void>();

  constructor(
    private readonly asker: Asker,
    private readonly paceOf: (target: Target) => number | null,
  ) {}

  /** When the archive's first sample of an instance was taken, if it has any; milliseconds by the node's clock. */
  oldest(target: Target): number | undefined {
    return this.reaches.get(keyOf(target))?.oldest;
  }

  /** Whether there is an archive at all, as far as is known. */
  get isThere(): boolean {
    return [...this.reaches.values()].some(({ state }) => state === 'there');
  }

  /** Finds out whether the archive has something of an instance. */
  look(target: Target, now: number): void {
    const key = keyOf(target);
    let reach = this.reaches.get(key);
    if (!reach) {
      reach = {
        target,
        tries: 0,
        state: 'unknown',
        hasFailed: false,
        at: Number.NEGATIVE_INFINITY,
        asked: undefined,
        oldest: undefined,
      };
      this.reaches.set(key, reach);
    }
    if (now < lookAt(reach)) return;
    if (reach.state === 'there') this.findOldest(reach);
    else this.find(reach);
  }

  /**
   * What there is for a chart now; what is missing is asked for, until the chart leaves. `variant` tells ranges apart that are shown
   * together.
   */
  read(
    chart: number,
    target: Target,
    variant: number,
    wish: Wish,
    now: number,
  ): { readonly points: Points | undefined; readonly state: PastState } {
    this.look(target, now);
    const reach = this.reaches.get(keyOf(target));
    const isThere = reach?.state === 'there' && (reach.oldest === undefined || wish.to > reach.oldest + 1);
    if (!isThere) return { points: undefined, state: reach?.hasFailed ? 'failed' : 'none' };
    const key = `${keyOf(target)} ${variant}`;
    let entry = this.entries.get(key);
    if (!entry) {
      entry = {
        target,
        charts: new Set(),
        idleSince: undefined,
        wish: undefined,
        points: undefined,
        got: undefined,
        asked: undefined,
        askedAt: Number.NEGATIVE_INFINITY,
        retryAt: Number.NEGATIVE_INFINITY,
        most: MOST_POINTS,
      };
      this.entries.set(key, entry);
    }
    entry.charts.add(chart);
    entry.idleSince = undefined;
    entry.wish = wish;
    this.pursue(entry, now);
    const isReady = entry.got !== undefined && contains(entry.got, wish);
    const state = isReady ? 'ready' : now < entry.retryAt ? 'failed' : 'reading';
    return { points: entry.points, state };
  }

  /** A chart shows nothing of all this any more. */
  leave(chart: number): void {
    for (const entry of this.entries.values()) entry.charts.delete(chart);
  }

  /** An answer to {@link Asker.ask}; nothing if there was none. */
  answered(id: number, answer: unknown, status: number, now: number): void {
    const take = this.waiting.get(id);
    this.waiting.delete(id);
    take?.(answer, status, now);
  }

  tick(now: number): void {
    for (const reach of [...this.reaches.values()]) if (isWorthALook(reach)) this.look(reach.target, now);
    for (const [key, entry] of [...this.entries]) {
      if (entry.charts.size > 0) {
        this.pursue(entry, now);
        continue;
      }
      entry.idleSince ??= now;
      if (now >= entry.idleSince + KEEP_MS) this.remove(key, entry);
    }
  }

  /** When {@link tick} has something to do. */
  nextDue(): number {
    let due = Number.POSITIVE_INFINITY;
    for (const reach of this.reaches.values()) if (isWorthALook(reach)) due = Math.min(due, lookAt(reach));
    for (const entry of this.entries.values()) {
      if (entry.charts.size === 0) due = Math.min(due, (entry.idleSince ?? 0) + KEEP_MS);
      else if (this.missing(entry)) due = Math.min(due, Math.max(entry.askedAt + PAUSE_MS, entry.retryAt));
    }
    return due;
  }

  /** Nobody shows the instance any more. */
  forget(target: Target): void {
    const reach = this.reaches.get(keyOf(target));
    if (reach) this.giveUp(reach.asked);
    this.reaches.delete(keyOf(target));
    for (const [key, entry] of [...this.entries]) {
      if (keyOf(entry.target) === keyOf(target)) this.remove(key, entry);
    }
  }

  /** Another life of the DAC may have another archive. */
  reset(): void {
    for (const id of [...this.waiting.keys()]) this.giveUp(id);
    this.entries.clear();
    this.reaches.clear();
  }

  private find(reach: Reach): void {
    this.inquire(reach, `api/v1/ledger?${query(reach.target)}`, (answer) => {
      // Only with an archive has a ledger an account of it; nobody is asked for what is not there.
      reach.state = hasArchive(answer) ? 'there' : 'absent';
      if (reach.state === 'there') this.findOldest(reach);
      else reach.tries++;
    });
  }

  private findOldest(reach: Reach): void {
    const path = `api/v1/samples?${query(reach.target)}&from=0&integers=string`;
    this.inquire(reach, path, (answer) => {
      reach.oldest = firstTime(answer);
    });
  }

  /** Asks for something of an instance; what is not answered is asked for again. */
  private inquire(reach: Reach, path: string, take: (answer: unknown) => void): void {
    reach.asked = this.ask(path, (answer, status, now) => {
      reach.asked = undefined;
      reach.at = now;
      reach.hasFailed = status !== OK;
      if (!reach.hasFailed) take(answer);
      this.version++;
    });
  }

  private remove(key: string, entry: Entry): void {
    this.giveUp(entry.asked?.id);
    this.entries.delete(key);
  }

  /** What an entry wants that it neither has nor has asked for. */
  private missing({ wish, got, asked }: Entry): Wish | undefined {
    // Stretches may be longer than was asked for, where there are only roll-ups: asking again brings no finer ones.
    if (!wish || (got && contains(got, wish))) return undefined;
    return asked && contains(asked.wish, wish) ? undefined : wish;
  }

  private pursue(entry: Entry, now: number): void {
    const wish = this.missing(entry);
    if (!wish || now < entry.askedAt + PAUSE_MS || now < entry.retryAt) return;
    this.giveUp(entry.asked?.id);
    const { from, to, columns } = wish;
    const margin = (to - from) * MARGIN;
    const wide = { from: from - margin, to: to + margin, columns: columns * (1 + 2 * MARGIN) };
    const points = Math.min(entry.most, Math.ceil(wide.columns));
    const path = `api/v1/samples?${query(entry.target)}&from=${nanos(wide.from)}&to=${nanos(wide.to)}&points=${points}`;
    entry.askedAt = now;
    const id = this.ask(path, (answer, status, then) => {
      entry.asked = undefined;
      const found = parsePoints(pointsOf(answer), this.paceOf(entry.target));
      if (found) [entry.points, entry.got] = [found, wide];
      else if (status === TOO_WIDE && entry.most > FEWEST_POINTS) entry.most = Math.ceil(points / 2);
      else entry.retryAt = then + RETRY_MS;
      this.version++;
    });
    entry.asked = { id, wish: wide };
  }

  private giveUp(id: number | undefined): void {
    if (id === undefined || !this.waiting.delete(id)) return;
    this.asker.drop(id);
  }

  private ask(path: string, take: (answer: unknown, status: number, now: number) => void): number {
    const id = this.asker.ask(path);
    this.waiting.set(id, take);
    return id;
  }
}

/** When an instance may be looked for, or the first of it. */
function lookAt({ state, hasFailed, asked, at }: Reach): number {
  if (asked !== undefined) return Number.POSITIVE_INFINITY;
  if (hasFailed) return at + RETRY_MS;
  if (state === 'there') return Number.POSITIVE_INFINITY;
  // Nothing may have been stored yet.
  return at + RELOOK_MS;
}

/** Whether it is looked for without anybody who wants something of it. */
function isWorthALook({ hasFailed, tries }: Reach): boolean {
  return hasFailed || tries < LOOKS;
}

function query({ node, instance }: Target): string {
  return new URLSearchParams({ node, instance }).toString();
}

/** A request takes nanoseconds, more exactly than a double holds them, and says so: nodes without a clock live in 1970, where the DAC takes numbers for seconds. */
function nanos(ms: number): string {
  return `${BigInt(Math.max(0, Math.round(ms))) * MILLION}ns`;
}

function contains(outer: Wish, inner: Wish): boolean {
  const width = (wish: Wish) => (wish.to - wish.from) / wish.columns;
  return outer.from <= inner.from && outer.to >= inner.to && width(outer) <= COARSE * width(inner);
}

function messagesOf(answer: unknown): Fields[] {
  return listOf(isFields(answer) ? answer.messages : undefined);
}

function pointsOf(answer: unknown): unknown {
  return messagesOf(answer).find(({ event }) => event === 'points');
}

function hasArchive(answer: unknown): boolean {
  const instances = listOf(isFields(answer) ? answer.instances : undefined);
  return instances.some(({ ledger }) => isFields(ledger) && isFields(ledger.archive));
}

function firstTime(answer: unknown): number | undefined {
  for (const { samples } of messagesOf(answer)) {
    const [first] = listOf(samples);
    if (first) return Number(first.time) / 1e6;
  }
  return undefined;
}
