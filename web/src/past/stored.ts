import { isFields, listOf } from '../fields.ts';
import { keyOf, type Target } from '../stream/view.ts';

/** Pause after a failed request. */
const RETRY_MS = 5000;
/** Pause before the next lookup of an instance that is not in the archive yet. */
const RELOOK_MS = 2000;
/** Lookups of an absent instance; after these, only a view that needs it triggers another one. */
const LOOKS = 4;
/** Lookups pending at a time, so that other requests get their turn with hundreds of watched instances. */
const MOST_ASKED = 4;
const OK = 200;
const NOT_FOUND = 404;

/** Time span of an instance in the archive; milliseconds by the node's clock. */
export interface StoredTimes {
  readonly oldest: number;
  readonly newest: number;
}

/** A shown instance. */
interface Looked {
  readonly target: Target;
  times: StoredTimes | undefined;
  isAsked: boolean;
  /** Time and number of the lookups that did not find it. */
  missedAt: number;
  missed: number;
}

/** Looks up the time span of each shown instance in the archive. It requests only these: the archive may know thousands. */
export class StoredInstances {
  /** Whether the DAC has an archive, as far as is known. */
  state: 'unknown' | 'absent' | 'there' = 'unknown';
  private readonly looked = new Map<string, Looked>();
  private asked = 0;
  /** Time of the last lookup, if it failed. */
  private failedAt: number | undefined;

  constructor(
    private readonly ask: (
      path: string,
      take: (answer: unknown, status: number, now: number) => void,
    ) => void,
  ) {}

  /** Whether the last lookup failed. */
  get hasFailed(): boolean {
    return this.failedAt !== undefined;
  }

  of(target: Target): StoredTimes | undefined {
    return this.looked.get(keyOf(target))?.times;
  }

  /** Requests the time span of an instance, unless it is known. */
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

  /** Drops an instance that no view shows any more. */
  forget(target: Target): void {
    this.looked.delete(keyOf(target));
  }

  tick(now: number): void {
    for (const looked of this.looked.values()) if (now >= this.dueAt(looked)) this.inquire(looked);
  }

  /** Returns when the next lookup is due, without a view that needs it. */
  nextDue(): number {
    let due = Number.POSITIVE_INFINITY;
    for (const looked of this.looked.values()) due = Math.min(due, this.dueAt(looked));
    return due;
  }

  private dueAt(looked: Looked): number {
    return this.hasFailed || looked.missed < LOOKS ? this.lookAt(looked) : Number.POSITIVE_INFINITY;
  }

  private lookAt({ times, isAsked, missedAt }: Looked): number {
    // Without an archive, no lookup is needed during this epoch of the DAC; one answer shows whether there is one.
    const most = this.state === 'there' && !this.hasFailed ? MOST_ASKED : 1;
    if (times || isAsked || this.state === 'absent' || this.asked >= most) return Number.POSITIVE_INFINITY;
    // The archive may not have stored a sample of it yet.
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

/** Returns the time span of the only instance of an answer. */
function timesIn(answer: unknown): StoredTimes | undefined {
  const [found] = listOf(isFields(answer) ? answer.instances : undefined);
  return found && { oldest: Number(found.oldest_time) / 1e6, newest: Number(found.newest_time) / 1e6 };
}
