import type { Pace } from '../series/pace.ts';
import { type Fields, isFields, listOf } from '../wire/fields.ts';
import type { Target } from '../wire/target.ts';
import { type NewestRequest, type NewestSamples, newestKind } from './newest.ts';
import { type Points, parsePoints } from './points.ts';
import type { PastState, ReadState } from './reads.ts';
import { Reads, type RequestKind } from './reads.ts';
import { StoredInstances, type StoredTimes } from './stored.ts';

/** Margin to fetch on each side of the shown range, as a share of it, so that small steps need no request. */
const MARGIN = 0.5;
/** Steps up to this many times as wide as a pixel are fine enough. */
const COARSEST_STEP = 1.5;
const MAX_POINTS = 4000;
const MILLION = 1_000_000n;

/** Sends HTTP requests to the DAC. `request` returns a number that the answer carries; `cancel` takes it. */
export interface HttpClient {
  request(path: string): number;
  cancel(id: number): void;
}

/** A range that a chart shows, before the samples in memory; milliseconds by the node's clock. */
export interface PointsRequest {
  readonly from: number;
  readonly to: number;
  /** Columns of pixels. */
  readonly columns: number;
  /** Times of the oldest and the newest sample in memory. From the oldest on, memory replaces the archive. */
  readonly remembered?: { readonly oldest: number; readonly newest: number };
}

/**
 * Reads the past from the DAC: the time span of an instance in the archive, long ranges as a limited number of points, and
 * the newest samples before a time.
 */
export class ArchiveReader {
  /** Grows with each answer, so that readers can detect a change. */
  version = 0;
  private readonly waiting = new Map<number, (answer: unknown, status: number, now: number) => void>();
  private stored: StoredInstances;
  private readonly points: Reads<PointsRequest, Points>;
  private readonly newest: Reads<NewestRequest, NewestSamples>;

  constructor(
    private readonly http: HttpClient,
    paceOf: (target: Target) => Pace,
  ) {
    const requester = {
      send: this.send.bind(this),
      cancel: this.cancel.bind(this),
      onAnswer: () => {
        this.version++;
      },
    };
    this.stored = this.lookup();
    this.points = new Reads(requester, pointsKind(paceOf));
    this.newest = new Reads(requester, newestKind);
  }

  /** Returns the time span of an instance in the archive, or undefined; milliseconds by the node's clock. */
  timesOf(target: Target): StoredTimes | undefined {
    return this.stored.of(target);
  }

  /** Whether the DAC is known to have an archive. */
  get isThere(): boolean {
    return this.stored.state === 'there';
  }

  /** Whether the DAC has an archive; undefined until it has answered. */
  get hasArchive(): boolean | undefined {
    const { state } = this.stored;
    return state === 'unknown' ? undefined : state === 'there';
  }

  /** Requests the time span of an instance in the archive, unless it is known. */
  lookUp(target: Target, now: number): void {
    this.stored.lookUp(target, now);
  }

  /**
   * Returns the points of a range for a view, as far as they have arrived, and requests the missing ones until the view
   * closes. `variant` separates several ranges of one view.
   */
  read(
    view: number,
    target: Target,
    variant: string,
    request: PointsRequest,
    now: number,
  ): { readonly points: Points | undefined; readonly state: PastState } {
    this.lookUp(target, now);
    const times = this.timesOf(target);
    const isThere = times !== undefined && request.to > times.oldest + 1;
    if (!isThere) return { points: undefined, state: !times && this.stored.hasFailed ? 'failed' : 'none' };
    const { result, state } = this.points.read(view, target, variant, request, now);
    return { points: result, state };
  }

  /** Returns the newest samples before a time, from the archive or the DAC's memory; see {@link read}. */
  readNewest(
    view: number,
    target: Target,
    variant: string,
    request: NewestRequest,
    now: number,
  ): { readonly found: NewestSamples | undefined; readonly state: ReadState } {
    const { result, state } = this.newest.read(view, target, variant, request, now);
    return { found: result, state };
  }

  /** Handles that a view was closed. */
  closeView(view: number): void {
    this.points.closeView(view);
    this.newest.closeView(view);
  }

  /** Handles the answer to {@link HttpClient.request}; the status is 0 if there was none. */
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

  /** Returns when {@link tick} has work to do. */
  nextDue(): number {
    return Math.min(this.stored.nextDue(), this.points.nextDue(), this.newest.nextDue());
  }

  /** Drops everything about an instance that no view shows any more. */
  forget(target: Target): void {
    this.stored.forget(target);
    this.points.forget(target);
    this.newest.forget(target);
  }

  /** Starts over: another epoch of the DAC may have another archive. */
  reset(): void {
    for (const id of [...this.waiting.keys()]) this.cancel(id);
    this.points.clear();
    this.newest.clear();
    this.stored = this.lookup();
  }

  private lookup(): StoredInstances {
    return new StoredInstances((path, take) =>
      this.send(path, (answer, status, now) => {
        take(answer, status, now);
        this.version++;
      }),
    );
  }

  private cancel(id: number | undefined): void {
    if (id === undefined || !this.waiting.delete(id)) return;
    this.http.cancel(id);
  }

  private send(path: string, take: (answer: unknown, status: number, now: number) => void): number {
    const id = this.http.request(path);
    this.waiting.set(id, take);
    return id;
  }
}

function pointsKind(paceOf: (target: Target) => Pace): RequestKind<PointsRequest, Points> {
  return {
    widen({ from, to, columns, ...request }) {
      const margin = (to - from) * MARGIN;
      return { ...request, from: from - margin, to: to + margin, columns: columns * (1 + 2 * MARGIN) };
    },
    path(target, { from, to, columns }, halvings) {
      const points = Math.max(1, Math.min(MAX_POINTS, Math.ceil(columns)) >> halvings);
      return `api/v1/samples?${query(target)}&from=${nanos(from)}&to=${nanos(to)}&points=${points}`;
    },
    parse: (answer, target, { remembered }) =>
      parsePoints(pointsOf(answer), paceOf(target), remembered?.newest),
    // If only roll-ups are left, their steps may be longer than requested; another request returns no finer ones.
    covers: (answered, request) => contains(answered, request) && reachesMemory(answered, request),
  };
}

function query({ node, instance }: Target): string {
  return new URLSearchParams({ node, instance }).toString();
}

/**
 * Formats nanoseconds with their unit: nodes without a clock live in 1970, where the DAC reads plain numbers as seconds. A
 * double is not exact enough.
 */
function nanos(ms: number): string {
  return `${BigInt(Math.max(0, Math.round(ms))) * MILLION}ns`;
}

function contains(outer: PointsRequest, inner: PointsRequest): boolean {
  const width = (request: PointsRequest) => (request.to - request.from) / request.columns;
  return outer.from <= inner.from && outer.to >= inner.to && width(outer) <= COARSEST_STEP * width(inner);
}

/**
 * Whether the points reach the samples in memory. Memory evicts its oldest samples, so it may start later than at the
 * request.
 */
function reachesMemory(answered: PointsRequest, { to, remembered }: PointsRequest): boolean {
  if (!remembered) return true;
  return Math.min(to, remembered.oldest) <= (answered.remembered?.newest ?? Number.NEGATIVE_INFINITY);
}

function messagesOf(answer: unknown): Fields[] {
  return listOf(isFields(answer) ? answer.messages : undefined);
}

function pointsOf(answer: unknown): unknown {
  return messagesOf(answer).find(({ event }) => event === 'points');
}
