import { type Fields, isFields, listOf } from '../fields.ts';
import type { Pace } from '../stream/pace.ts';
import type { PastState, ReadState } from '../stream/query.ts';
import type { Target } from '../stream/view.ts';
import { type NewestSamples, type NewestWish, newestManner } from './newest.ts';
import { type Points, parsePoints } from './points.ts';
import { type Manner, Reads } from './reads.ts';
import { StoredInstances, type StoredTimes } from './stored.ts';

/** What is fetched beyond each end of what is shown, as a share of it: small steps need no answer. */
const MARGIN = 0.5;
/** Stretches so much longer than pixels are good enough. */
const COARSE = 1.5;
const MOST_POINTS = 4000;
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
  /** Times of the oldest sample that is remembered, which takes over from what is read, and of the newest one. */
  readonly remembered?: { readonly oldest: number; readonly newest: number };
}

/**
 * Reads what is shown of the past from the DAC: whether and since when the archive has an instance, long times in so many points,
 * and the newest samples before a time.
 */
export class ArchiveReader {
  /** Grows with each answer: whoever shows this compares. */
  version = 0;
  private readonly waiting = new Map<number, (answer: unknown, status: number, now: number) => void>();
  private stored: StoredInstances;
  private readonly points: Reads<Wish, Points>;
  private readonly newest: Reads<NewestWish, NewestSamples>;

  constructor(
    private readonly asker: Asker,
    paceOf: (target: Target) => Pace,
  ) {
    const requester = {
      ask: this.ask.bind(this),
      giveUp: this.giveUp.bind(this),
      changed: () => {
        this.version++;
      },
    };
    this.stored = this.unknown();
    this.points = new Reads(requester, pointsManner(paceOf));
    this.newest = new Reads(requester, newestManner);
  }

  /** From when to when the archive has something of an instance, if it has any; milliseconds by the node's clock. */
  timesOf(target: Target): StoredTimes | undefined {
    return this.stored.of(target);
  }

  /** Whether there is an archive at all, as far as is known. */
  get isThere(): boolean {
    return this.stored.state === 'there';
  }

  /** Finds out whether the archive has something of an instance. */
  look(target: Target, now: number): void {
    this.stored.look(target, now);
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
    const times = this.timesOf(target);
    const isThere = times !== undefined && wish.to > times.oldest + 1;
    if (!isThere) return { points: undefined, state: !times && this.stored.hasFailed ? 'failed' : 'none' };
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

  /** The view was closed. */
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
    this.stored.tick(now);
    this.points.tick(now);
    this.newest.tick(now);
  }

  /** When {@link tick} has something to do. */
  nextDue(): number {
    return Math.min(this.stored.nextDue(), this.points.nextDue(), this.newest.nextDue());
  }

  /** No view shows the instance any more. */
  forget(target: Target): void {
    this.stored.forget(target);
    this.points.forget(target);
    this.newest.forget(target);
  }

  /** Another epoch of the DAC may have another archive. */
  reset(): void {
    for (const id of [...this.waiting.keys()]) this.giveUp(id);
    this.points.clear();
    this.newest.clear();
    this.stored = this.unknown();
  }

  private unknown(): StoredInstances {
    return new StoredInstances((path, take) =>
      this.ask(path, (answer, status, now) => {
        take(answer, status, now);
        this.version++;
      }),
    );
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

function pointsManner(paceOf: (target: Target) => Pace): Manner<Wish, Points> {
  return {
    widened({ from, to, columns, ...wish }) {
      const margin = (to - from) * MARGIN;
      return { ...wish, from: from - margin, to: to + margin, columns: columns * (1 + 2 * MARGIN) };
    },
    path(target, { from, to, columns }, halvings) {
      const points = Math.max(1, Math.min(MOST_POINTS, Math.ceil(columns)) >> halvings);
      return `api/v1/samples?${query(target)}&from=${nanos(from)}&to=${nanos(to)}&points=${points}`;
    },
    parse: (answer, target, { remembered }) =>
      parsePoints(pointsOf(answer), paceOf(target), remembered?.newest),
    // Stretches may be longer than was asked for, where there are only roll-ups: asking again brings no finer ones.
    suffices: (got, wish) => contains(got, wish) && lacksNothing(got, wish),
  };
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

/** What is remembered lets go of its oldest: what it began with when it was asked for may not be what it begins with now. */
function lacksNothing(got: Wish, { to, remembered }: Wish): boolean {
  if (!remembered) return true;
  return Math.min(to, remembered.oldest) <= (got.remembered?.newest ?? Number.NEGATIVE_INFINITY);
}

function messagesOf(answer: unknown): Fields[] {
  return listOf(isFields(answer) ? answer.messages : undefined);
}

function pointsOf(answer: unknown): unknown {
  return messagesOf(answer).find(({ event }) => event === 'points');
}
