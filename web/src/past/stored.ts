import { isFields, listOf } from '../wire/fields.ts';
import { keyOf, type Target } from '../wire/target.ts';

/** Pause after a failed request. */
const RETRY_MS = 5000;
/** Pause before the next lookup of an instance that is not in the archive yet. */
const RETRY_ABSENT_MS = 2000;
/** Lookups of an absent instance; after these, only a view that needs it triggers another one. */
const MAX_LOOKUPS = 4;
/** Lookups pending at a time, so that other requests get their turn with hundreds of watched instances. */
const MAX_PENDING = 4;
const OK = 200;
const NOT_FOUND = 404;

/** Time span of an instance in the archive; milliseconds by the node's clock. */
export interface StoredTimes {
  readonly oldest: number;
  readonly newest: number;
}

/** A shown instance. */
interface Entry {
  readonly target: Target;
  times: StoredTimes | undefined;
  isPending: boolean;
  /** Time and number of the lookups that did not find it. */
  absentAt: number;
  absences: number;
}

/** Looks up the time span of each shown instance in the archive. It requests only these: the archive may know thousands. */
export class StoredInstances {
  /** Whether the DAC has an archive, as far as is known. */
  state: 'unknown' | 'absent' | 'there' = 'unknown';
  private readonly entries = new Map<string, Entry>();
  private pending = 0;
  /** Time of the last lookup, if it failed. */
  private failedAt: number | undefined;

  constructor(
    private readonly send: (
      path: string,
      take: (answer: unknown, status: number, now: number) => void,
    ) => void,
  ) {}

  /** Whether the last lookup failed. */
  get hasFailed(): boolean {
    return this.failedAt !== undefined;
  }

  of(target: Target): StoredTimes | undefined {
    return this.entries.get(keyOf(target))?.times;
  }

  /** Requests the time span of an instance, unless it is known. */
  lookUp(target: Target, now: number): void {
    const key = keyOf(target);
    let entry = this.entries.get(key);
    if (!entry) {
      entry = {
        target,
        times: undefined,
        isPending: false,
        absentAt: Number.NEGATIVE_INFINITY,
        absences: 0,
      };
      this.entries.set(key, entry);
    }
    if (now >= this.nextLookup(entry)) this.request(entry);
  }

  /** Drops an instance that no view shows any more. */
  forget(target: Target): void {
    this.entries.delete(keyOf(target));
  }

  tick(now: number): void {
    for (const entry of this.entries.values()) if (now >= this.dueAt(entry)) this.request(entry);
  }

  /** Returns when the next lookup is due, without a view that needs it. */
  nextDue(): number {
    let due = Number.POSITIVE_INFINITY;
    for (const entry of this.entries.values()) due = Math.min(due, this.dueAt(entry));
    return due;
  }

  private dueAt(entry: Entry): number {
    return this.hasFailed || entry.absences < MAX_LOOKUPS ? this.nextLookup(entry) : Number.POSITIVE_INFINITY;
  }

  private nextLookup({ times, isPending, absentAt }: Entry): number {
    // Without an archive, no lookup is needed during this epoch of the DAC; one answer shows whether there is one.
    const most = this.state === 'there' && !this.hasFailed ? MAX_PENDING : 1;
    if (times || isPending || this.state === 'absent' || this.pending >= most)
      return Number.POSITIVE_INFINITY;
    // The archive may not have stored a sample of it yet.
    return Math.max(absentAt + RETRY_ABSENT_MS, (this.failedAt ?? Number.NEGATIVE_INFINITY) + RETRY_MS);
  }

  private request(entry: Entry): void {
    entry.isPending = true;
    this.pending++;
    const { node, instance } = entry.target;
    const query = new URLSearchParams({ node, instance });
    this.send(`api/v1/archive/instances?${query}`, (answer, status, now) => {
      entry.isPending = false;
      this.pending--;
      this.failedAt = status === OK || status === NOT_FOUND ? undefined : now;
      if (this.hasFailed) return;
      this.state = status === OK ? 'there' : 'absent';
      entry.times = timesIn(answer);
      if (entry.times) return;
      entry.absentAt = now;
      entry.absences++;
    });
  }
}

/** Returns the time span of the only instance of an answer. */
function timesIn(answer: unknown): StoredTimes | undefined {
  const [found] = listOf(isFields(answer) ? answer.instances : undefined);
  return found && { oldest: Number(found.oldest_time) / 1e6, newest: Number(found.newest_time) / 1e6 };
}
