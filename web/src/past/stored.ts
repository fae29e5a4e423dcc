import { isFields, listOf } from '../fields.ts';
import { keyOf, type Target } from '../stream/view.ts';

/** Pause after a failed request. */
const RETRY_MS = 5000;
/** Until an instance that was not in the archive may be there. */
const RELOOK_MS = 2000;
/** How often one that was not there is looked for again without anybody who wants something of it. */
const LOOKS = 4;
/** Questions under way at a time, so that other requests have their turn where hundreds of instances are watched. */
const MOST_ASKED = 4;
const OK = 200;
const NOT_FOUND = 404;

/** From when to when something of an instance is stored; milliseconds by the node's clock. */
export interface StoredTimes {
  readonly oldest: number;
  readonly newest: number;
}

/** One that somebody shows. */
interface Looked {
  readonly target: Target;
  times: StoredTimes | undefined;
  isAsked: boolean;
  /** When it was not there, and how often. */
  missedAt: number;
  missed: number;
}

/** Of which of the instances that are shown the archive has something, and since when. Only those are asked for: it may know thousands. */
export class StoredInstances {
  /** Whether there is an archive, as far as is known. */
  state: 'unknown' | 'absent' | 'there' = 'unknown';
  private readonly looked = new Map<string, Looked>();
  private asked = 0;
  /** When there was no answer, if there was none the last time. */
  private failedAt: number | undefined;

  constructor(
    private readonly ask: (
      path: string,
      take: (answer: unknown, status: number, now: number) => void,
    ) => void,
  ) {}

  /** Whether there was no answer the last time. */
  get hasFailed(): boolean {
    return this.failedAt !== undefined;
  }

  of(target: Target): StoredTimes | undefined {
    return this.looked.get(keyOf(target))?.times;
  }

  /** Finds out whether something of an instance is stored, if that is not known. */
  look(target: Target, now: number): void {
    const key = keyOf(target);
    let looked = this.looked.get(key);
    if (!looked) {
      looked = {
        target,
        times: undefined,
        isAsked: false,
        missedAt: Number.NEGATIVE_INFINITY,
        missed: 0,
      };
      this.looked.set(key, looked);
    }
    if (now >= this.lookAt(looked)) this.inquire(looked);
  }

  /** No view shows the instance any more. */
  forget(target: Target): void {
    this.looked.delete(keyOf(target));
  }

  tick(now: number): void {
    for (const looked of this.looked.values()) if (now >= this.dueAt(looked)) this.inquire(looked);
  }

  /** When it is worth a look, whether or not anybody asks for anything. */
  nextDue(): number {
    let due = Number.POSITIVE_INFINITY;
    for (const looked of this.looked.values()) due = Math.min(due, this.dueAt(looked));
    return due;
  }

  private dueAt(looked: Looked): number {
    return this.hasFailed || looked.missed < LOOKS ? this.lookAt(looked) : Number.POSITIVE_INFINITY;
  }

  private lookAt({ times, isAsked, missedAt }: Looked): number {
    // Without an archive there is nothing to wait for as long as the DAC lives; one answer tells, or that there is none now.
    const most = this.state === 'there' && !this.hasFailed ? MOST_ASKED : 1;
    if (times || isAsked || this.state === 'absent' || this.asked >= most) return Number.POSITIVE_INFINITY;
    // Nothing of it may have been stored yet.
    return Math.max(missedAt + RELOOK_MS, (this.failedAt ?? Number.NEGATIVE_INFINITY) + RETRY_MS);
  }

  private inquire(looked: Looked): void {
    looked.isAsked = true;
    this.asked++;
    const { node, instance } = looked.target;
    const query = new URLSearchParams({ node, instance });
    this.ask(`api/v1/archive/instances?${query}`, (answer, status, now) => {
      looked.isAsked = false;
      this.asked--;
      this.failedAt = status === OK || status === NOT_FOUND ? undefined : now;
      if (this.hasFailed) return;
      this.state = status === OK ? 'there' : 'absent';
      looked.times = timesIn(answer);
      if (looked.times) return;
      looked.missedAt = now;
      looked.missed++;
    });
  }
}

/** Of the only instance that was asked for. */
function timesIn(answer: unknown): StoredTimes | undefined {
  const [found] = listOf(isFields(answer) ? answer.instances : undefined);
  return found && { oldest: Number(found.oldest_time) / 1e6, newest: Number(found.newest_time) / 1e6 };
}
