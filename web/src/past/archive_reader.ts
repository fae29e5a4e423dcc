import { type Fields, isFields, listOf } from '../fields.ts';
import { keyOf, type Target } from '../stream/view.ts';
import { type NewestSamples, type NewestWish, newestManner } from './newest.ts';
import { type Points, parsePoints } from './points.ts';
import { type Manner, type ReadState, Reads } from './reads.ts';

/** After an answer that was none. */
const RETRY_MS = 5000;
/** Until an instance that was not in the archive may be there. */
const RELOOK_MS = 2000;
/** How often it is looked for in vain without anybody who wants something of it. */
const LOOKS = 4;
/** What is fetched beyond each end of what is shown, as a share of it: small steps need no answer. */
const MARGIN = 0.5;
/** Stretches so much longer than pixels are good enough. */
const COARSE = 1.5;
const MOST_POINTS = 4000;
const OK = 200;
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

export type PastState = 'none' | ReadState;

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
 * Reads what is shown of the past from the DAC: whether and since when the archive has an instance, long times in so many points,
 * and the newest samples before a time.
 */
export class ArchiveReader {
  /** Grows with each answer: whoever shows this compares. */
  version = 0;
  private readonly reaches = new Map<string, Reach>();
  private readonly waiting = new Map<number, (answer: unknown, status: number, now: number) => void>();
  private readonly points: Reads<Wish, Points>;
  private readonly newest: Reads<NewestWish, NewestSamples>;

  constructor(
    private readonly asker: Asker,
    paceOf: (target: Target) => number | null,
  ) {
    const requester = {
      ask: this.ask.bind(this),
      giveUp: this.giveUp.bind(this),
      changed: () => {
        this.version++;
      },
    };
    this.points = new Reads(requester, pointsManner(paceOf));
    this.newest = new Reads(requester, newestManner);
  }

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
   * What there is for a view now of a time in the archive, in so many points; what is missing is asked for, until the view leaves.
   * `variant` tells ranges apart that are shown together.
   */
  read(
    view: number,
    target: Target,
    variant: string,
    wish: Wish,
    now: number,
  ): { readonly points: Points | undefined; readonly state: PastState } {
    this.look(target, now);
    const reach = this.reaches.get(keyOf(target));
    const isThere = reach?.state === 'there' && (reach.oldest === undefined || wish.to > reach.oldest + 1);
    if (!isThere) return { points: undefined, state: reach?.hasFailed ? 'failed' : 'none' };
    const { found, state } = this.points.read(view, target, variant, wish, now);
    return { points: found, state };
  }

  /** The newest samples before a time, from the archive or from what the DAC holds; as {@link read}. */
  readNewest(
    view: number,
    target: Target,
    variant: string,
    wish: NewestWish,
    now: number,
  ): { readonly found: NewestSamples | undefined; readonly state: ReadState } {
    return this.newest.read(view, target, variant, wish, now);
  }

  /** A view shows nothing of all this any more. */
  leave(view: number): void {
    this.points.leave(view);
    this.newest.leave(view);
  }

  /** An answer to {@link Asker.ask}; nothing if there was none. */
  answered(id: number, answer: unknown, status: number, now: number): void {
    const take = this.waiting.get(id);
    this.waiting.delete(id);
    take?.(answer, status, now);
  }

  tick(now: number): void {
    for (const reach of [...this.reaches.values()]) if (isWorthALook(reach)) this.look(reach.target, now);
    this.points.tick(now);
    this.newest.tick(now);
  }

  /** When {@link tick} has something to do. */
  nextDue(): number {
    let due = Math.min(this.points.nextDue(), this.newest.nextDue());
    for (const reach of this.reaches.values()) if (isWorthALook(reach)) due = Math.min(due, lookAt(reach));
    return due;
  }

  /** Nobody shows the instance any more. */
  forget(target: Target): void {
    const reach = this.reaches.get(keyOf(target));
    if (reach) this.giveUp(reach.asked);
    this.reaches.delete(keyOf(target));
    this.points.forget(target);
    this.newest.forget(target);
  }

  /** Another life of the DAC may have another archive. */
  reset(): void {
    for (const id of [...this.waiting.keys()]) this.giveUp(id);
    this.points.clear();
    this.newest.clear();
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

function pointsManner(paceOf: (target: Target) => number | null): Manner<Wish, Points> {
  return {
    widened({ from, to, columns }) {
      const margin = (to - from) * MARGIN;
      return { from: from - margin, to: to + margin, columns: columns * (1 + 2 * MARGIN) };
    },
    path(target, { from, to, columns }, halvings) {
      const points = Math.max(1, Math.min(MOST_POINTS, Math.ceil(columns)) >> halvings);
      return `api/v1/samples?${query(target)}&from=${nanos(from)}&to=${nanos(to)}&points=${points}`;
    },
    parse: (answer, target) => parsePoints(pointsOf(answer), paceOf(target)),
    // Stretches may be longer than was asked for, where there are only roll-ups: asking again brings no finer ones.
    suffices: contains,
  };
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
