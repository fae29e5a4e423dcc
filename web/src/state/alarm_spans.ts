import { computed, effect, type ReadonlySignal, type Signal, signal, untracked } from '@preact/signals';
import type { Alarm } from '../alarms/alarm.ts';
import { alarmBook } from '../alarms/book.ts';
import { type Entry, readJournal } from '../alarms/journal.ts';
import type { RuleLimit } from '../alarms/spans.ts';
import { type AlarmSpan, constantLimits, spansOf } from '../alarms/spans.ts';
import { keyOf, type Target } from '../wire/target.ts';
import { byBrowser, byNode } from './alarm_clock.ts';
import { rangeToRead } from './playback.ts';
import { Soon } from './soon.ts';
import { isConnected } from './store.ts';
import { ends, range } from './time.ts';

/** What charts draw of the alarms of an instance; times by the browser's clock. */
export interface InstanceAlarms {
  readonly spans: readonly AlarmSpan[];
  readonly limits: readonly RuleLimit[];
}

const NO_ALARMS: InstanceAlarms = { spans: [], limits: [] };

const PAGE = 500;
/** Most pages of a journal that are read for one instance. */
const MAX_PAGES = 4;
const PAUSE_MS = 300;
/** Least time between two reads of an instance: an alarm may chatter. */
const REST_MS = 1000;

/** Alarms by instance: an instance without any costs its charts nothing. */
const byTarget = computed(() => {
  const found = new Map<string, Alarm[]>();
  for (const alarm of alarmBook.value.values()) {
    const key = keyOf(alarm);
    const known = found.get(key);
    if (known) known.push(alarm);
    else found.set(key, [alarm]);
  }
  return found;
});

interface Follower {
  readers: number;
  readonly shown: Signal<InstanceAlarms>;
  readonly stop: () => void;
}

const followers = new Map<string, Follower>();

export interface FollowedAlarms {
  readonly shown: ReadonlySignal<InstanceAlarms>;
  readonly stop: () => void;
}

/** Follows the alarms of an instance in the time shown; all charts share what is read. */
export function followInstanceAlarms(target: Target): FollowedAlarms {
  const key = keyOf(target);
  let follower = followers.get(key);
  if (!follower) {
    const shown = signal(NO_ALARMS);
    follower = { readers: 0, shown, stop: follow(target, shown) };
    followers.set(key, follower);
  }
  follower.readers++;
  const { shown } = follower;
  let isStopped = false;
  const stop = () => {
    if (isStopped) return;
    isStopped = true;
    const found = followers.get(key);
    if (!found || --found.readers > 0) return;
    found.stop();
    followers.delete(key);
  };
  return { shown, stop };
}

/** Entries of an instance, and the time that they cover by the clock of its node. */
interface Covered {
  readonly entries: readonly Entry[];
  readonly from: number;
  readonly to: number;
  /** The newest revision of its alarms when they were read. */
  readonly revision: number;
}

function follow(target: Target, shown: Signal<InstanceAlarms>): () => void {
  const { node } = target;
  const key = keyOf(target);
  const alarms = computed(() => byTarget.value.get(key));
  // As a number: a new list of the same alarms changes nothing.
  const revision = computed(() => newestRevision(alarms.value));
  let covered: Covered | undefined;
  const draw = (entries: readonly Entry[]) => {
    const { live } = range.peek();
    const to = live ? Number.POSITIVE_INFINITY : byNode(node, ends(rangeToRead.peek())[1]);
    const now = alarms.peek() ?? [];
    const moved = spansOf(entries, now, to).map((span) => ({
      ...span,
      from: byBrowser(node, span.from),
      to: byBrowser(node, span.to),
    }));
    shown.value = { spans: moved, limits: constantLimits(entries, now) };
  };
  const soon = new Soon(
    async (signal) => {
      const [from, to] = ends(rangeToRead.peek()).map((time) => byNode(node, time));
      const asked = { from, to, revision: revision.peek(), isLive: range.peek().live };
      if (!covered || !covers(covered, asked)) {
        // The banner reports the lost connection.
        const read = await readCovering(target, asked, signal).catch(() => undefined);
        if (!read || signal.aborted) return;
        covered = read;
      }
      draw(covered.entries);
    },
    PAUSE_MS,
    REST_MS,
  );
  const stop = effect(() => {
    const isThere = revision.value > 0;
    void rangeToRead.value;
    if (!isThere) shown.value = NO_ALARMS;
    else if (isConnected.value) {
      untracked(() => covered && draw(covered.entries));
      soon.ask();
    }
  });
  return () => {
    stop();
    soon.stop();
  };
}

interface SpanRequest {
  readonly from: number;
  readonly to: number;
  readonly revision: number;
  readonly isLive: boolean;
}

function covers(covered: Covered, { from, to, revision, isLive }: SpanRequest): boolean {
  if (covered.revision !== revision || from < covered.from) return false;
  return isLive ? covered.to === Number.POSITIVE_INFINITY : to <= covered.to;
}

/** Reads the entries of a time, and as many before it as the last page has: they tell how it began. */
async function readCovering(
  { node, instance }: Target,
  { from, to, revision, isLive }: SpanRequest,
  signal: AbortSignal,
): Promise<Covered> {
  const entries: Entry[] = [];
  let after: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const filter = { node, instance, ...(!isLive && { to }) };
    const { entries: found, next } = await readJournal(filter, PAGE, after, signal);
    entries.push(...found);
    after = next;
    const oldest = found.at(-1)?.time;
    if (next === undefined || (oldest !== undefined && oldest < from)) break;
  }
  const isWhole = after === undefined;
  return {
    entries,
    from: isWhole ? Number.NEGATIVE_INFINITY : (entries.at(-1)?.time ?? from),
    to: isLive ? Number.POSITIVE_INFINITY : to,
    revision,
  };
}

function newestRevision(alarms: readonly Alarm[] | undefined): number {
  return (alarms ?? []).reduce((newest, { revision }) => Math.max(newest, revision, 1), 0);
}
