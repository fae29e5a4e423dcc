import { isFields, listOf } from '../fields.ts';
import { keyOf, type Target } from '../stream/view.ts';

/** After an answer that was none. */
const RETRY_MS = 5000;
/** Until an instance that was not in the archive may be there. */
const RELOOK_MS = 2000;
/** How often one that was not there is looked for again without anybody who wants something of it. */
const LOOKS = 4;
const OK = 200;
const NOT_FOUND = 404;

/** From when to when something of an instance is stored; milliseconds by the node's clock. */
export interface StoredTimes {
  readonly oldest: number;
  readonly newest: number;
}

/** Of which instances the archive has something, and since when: one question for all of them. */
export class StoredInstances {
  /** Whether there is an archive, as far as is known. */
  state: 'unknown' | 'absent' | 'there' = 'unknown';
  /** Whether there was no answer the last time. */
  hasFailed = false;
  private times = new Map<string, StoredTimes>();
  /** Those that were looked for and not there, and how often in vain. */
  private readonly missed = new Map<string, number>();
  private asked: number | undefined;
  private at = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly ask: (
      path: string,
      take: (answer: unknown, status: number, now: number) => void,
    ) => number,
  ) {}

  of(target: Target): StoredTimes | undefined {
    return this.times.get(keyOf(target));
  }

  /** Finds out whether something of an instance is stored, if that is not known. */
  look(target: Target, now: number): void {
    const key = keyOf(target);
    if (this.times.has(key)) return;
    if (!this.missed.has(key)) this.missed.set(key, 0);
    if (now >= this.lookAt()) this.inquire();
  }

  /** Nobody shows the instance any more. */
  forget(target: Target): void {
    this.missed.delete(keyOf(target));
  }

  tick(now: number): void {
    if (now >= this.nextDue()) this.inquire();
  }

  /** When it is worth a look, whether or not anybody asks for anything. */
  nextDue(): number {
    const isWorthIt = this.hasFailed || [...this.missed.values()].some((tries) => tries < LOOKS);
    return isWorthIt ? this.lookAt() : Number.POSITIVE_INFINITY;
  }

  private lookAt(): number {
    // Without an archive there is nothing to wait for as long as the DAC lives.
    if (this.asked !== undefined || this.state === 'absent') return Number.POSITIVE_INFINITY;
    // Nothing of it may have been stored yet.
    return this.at + (this.hasFailed ? RETRY_MS : RELOOK_MS);
  }

  private inquire(): void {
    this.asked = this.ask('api/v1/archive/instances', (answer, status, now) => {
      this.asked = undefined;
      this.at = now;
      this.hasFailed = status !== OK && status !== NOT_FOUND;
      if (this.hasFailed) return;
      this.state = status === OK ? 'there' : 'absent';
      this.times = timesIn(answer);
      for (const [key, tries] of [...this.missed]) {
        if (this.times.has(key)) this.missed.delete(key);
        else this.missed.set(key, tries + 1);
      }
    });
  }
}

function timesIn(answer: unknown): Map<string, StoredTimes> {
  const instances = listOf(isFields(answer) ? answer.instances : undefined);
  return new Map(
    instances.map(({ node, instance, oldest_time: oldest, newest_time: newest }) => [
      keyOf({ node: String(node), instance: String(instance) }),
      { oldest: Number(oldest) / 1e6, newest: Number(newest) / 1e6 },
    ]),
  );
}
