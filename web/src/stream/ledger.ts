import type { GapCause } from '../series/causes.ts';

export interface GapEvent {
  /** Browser clock, milliseconds. */
  readonly at: number;
  readonly cause: GapCause;
  /** Missing samples; 0 for an interruption. */
  readonly count: number;
  /** First and last missing sequence number, if known. */
  readonly from?: number;
  readonly to?: number;
  /** How long no samples were taken or received, in milliseconds, if known. */
  readonly duration?: number;
}

/** Samples that are missing before a batch, as the DAC reports them. */
export interface Gap {
  /** First and last missing sequence number. */
  readonly from: number;
  readonly to: number;
  /** Fewer than the numbers between if the DAC counts several gaps together. */
  readonly count: number;
  readonly cause: GapCause;
}

/** What this page received of an instance since it began to watch it. */
export interface LossView {
  /** When it began, browser clock in milliseconds; undefined before the first sample. */
  readonly since: number | undefined;
  readonly received: number;
  /** Missing samples without those in `keptBack`. */
  readonly missing: number;
  /** Samples that the flight recorder kept back. */
  readonly keptBack: number;
  readonly unexplained: number;
  /** Samples of `missing` that the DAC has not reported as missing: it has, or had, them, and this page did not receive them. */
  readonly notHere: number;
  /** `notHere` by cause. */
  readonly causesHere: ReadonlyMap<GapCause, number>;
  /** Newest first. */
  readonly events: readonly GapEvent[];
  /** The topic log that samples come from now, and the samples received from it, for comparison with the DAC's ledger. */
  readonly log: { readonly name: string; readonly received: number } | undefined;
}

/** Returns a unique name of a topic log: a topic, in one epoch of the DAC. */
export function logName(epoch: string, topic: number): string {
  return `${epoch}:${topic}`;
}

const KEPT_EVENTS = 32;

/**
 * The page's own ledger of one instance, by sequence number (native-batch.md, "dropped before"; websocket.md, "Loss").
 *
 * Announcements (a gap in the log, a new epoch, a new run) arrive before the batch that they explain. The ledger keeps
 * them until a batch does not continue the previous one.
 */
export class SequenceLedger {
  private expected: number | undefined;
  private run: string | undefined;
  private isRunNew = false;
  private isEpochNew = false;
  /** Milliseconds from the sample before a batch to the batch, if known. */
  private apart: number | undefined;
  /** The cause that the DAC gave for the gap before the next batch. */
  private announced: GapCause | undefined;
  /** The gaps before the next batch that its ledger has. */
  private reported: readonly Gap[] = [];
  private hasRecorder = false;
  private since: number | undefined;
  private isReplay = false;
  private keptBack = 0;
  private received = 0;
  private missing = 0;
  private unexplained = 0;
  private notHere = 0;
  private causesHere: ReadonlyMap<GapCause, number> = new Map();
  private events: GapEvent[] = [];
  private log: LossView['log'];

  /** Sets the run of the node's process, from the registry. */
  setRun(run: string): void {
    if (this.run !== undefined && run !== this.run) this.isRunNew = true;
    this.run = run;
  }

  /** Sets whether the probe has a flight recorder. */
  setRecorder(hasRecorder: boolean): void {
    this.hasRecorder = hasRecorder;
  }

  /** Sets whether the samples are a replay: numbers that its recording lacks have a cause of their own. */
  setReplay(isReplay: boolean): void {
    this.isReplay = isReplay;
  }

  /** The DAC reports a gap before the next batch. The first of several causes counts. */
  announceGap(cause: GapCause): void {
    this.announced ??= cause;
  }

  /** The DAC reports what its ledger has between the batch before and the next one. */
  reportGaps(gaps: readonly Gap[]): void {
    this.reported = [...this.reported, ...gaps];
  }

  /** The next samples come from another log, or from the start of the same log. */
  startLog(name: string): void {
    this.log = { name, received: 0 };
  }

  /** Another page has counted up to this sample, at another DAC. */
  continueAfter(sequence: number): void {
    this.expected = sequence + 1;
    this.isEpochNew = true;
  }

  /** The next batch is the first one again: nothing is missing before it. */
  restart(): void {
    this.expected = undefined;
    this.clearAnnouncements(false);
  }

  epochChanged(at: number): void {
    this.isEpochNew = true;
    if (this.expected !== undefined) this.addEvent({ at, cause: 'epoch_changed', count: 0 });
  }

  reconnected(at: number, duration: number): void {
    if (this.expected !== undefined) this.addEvent({ at, cause: 'reconnected', count: 0, duration });
  }

  /** The probe took no samples for a time; none are missing. */
  interrupted(at: number, cause: GapCause, duration: number): void {
    this.addEvent({ at, cause, count: 0, duration });
  }

  /** Adds a batch, which was taken `apart` milliseconds after the one before. Returns whether it continues that. */
  add(first: number, count: number, dropped: number, at: number, apart?: number): boolean {
    this.apart = apart;
    this.since ??= at;
    if (this.log) this.log = { ...this.log, received: this.log.received + count };
    const expected = this.expected;
    const next = first + count;
    if (expected === undefined || first === expected) {
      // The announced epoch lost nothing. The samples of an announced run may still follow.
      this.clearAnnouncements(this.isRunNew && expected !== undefined);
      this.received += count;
      this.expected = next;
      return true;
    }
    if (this.isRestart(first, expected, dropped)) {
      this.endRun(expected, at);
      this.addMissing(1, first, dropped, at);
      this.received += count;
    } else if (first > expected) {
      this.addMissing(expected, first, dropped, at);
      this.received += count;
    } else {
      // After a restart of the DAC, the node sends again what was not safe, in many batches; the page may have them.
      this.received += Math.max(0, next - expected);
      if (next >= expected) this.clearAnnouncements(false);
      this.expected = Math.max(expected, next);
      return true;
    }
    this.clearAnnouncements(false);
    this.expected = next;
    return false;
  }

  view(): LossView {
    const { since, received, missing, keptBack, unexplained, notHere, causesHere, events, log } = this;
    return { since, received, missing, keptBack, unexplained, notHere, causesHere, events, log };
  }

  /**
   * Whether the batch starts a new run, in which sequence numbers start at 1. The registry may report the run after the
   * batch.
   */
  private isRestart(first: number, expected: number, dropped: number): boolean {
    if (first < expected) return this.isRunNew || !this.isEpochNew;
    return this.isRunNew && first - expected !== dropped;
  }

  /** Shows that a run has ended, and what the DAC misses of it after the last sample here. */
  private endRun(expected: number, at: number): void {
    const lost = this.reported.filter(({ cause, from }) => cause === 'node_restart' && from >= expected);
    for (const { cause, from, to, count } of lost) this.miss({ at, cause, count, from, to });
    if (lost.length === 0) this.addEvent({ at, cause: 'node_restart', count: 0, duration: this.apart });
  }

  /**
   * Counts the samples in `[from, to)` as missing: first those that the DAC's ledger has. An earlier DAC reports none: then the
   * last `dropped` ones are the node's. The others have the announced cause.
   */
  private addMissing(from: number, to: number, dropped: number, at: number): void {
    let rest = to - from;
    const known = this.reported.filter(
      (gap) => gap.from < to && gap.to >= from && gap.cause !== 'node_restart',
    );
    for (const gap of known) {
      const [first, last] = [Math.max(gap.from, from), Math.min(gap.to, to - 1)];
      const count = Math.min(gap.count, last - first + 1, rest);
      if (count > 0) this.miss({ at, cause: gap.cause, count, from: first, to: last });
      rest -= count;
    }
    const byNode = known.length > 0 ? 0 : Math.min(dropped, rest);
    rest -= byNode;
    if (rest > 0) this.missHere(this.causeOfRest(), rest, at, known.length > 0 ? undefined : from);
    const cause = this.hasRecorder ? 'kept_back' : 'node_dropped';
    if (byNode > 0) this.miss({ at, cause, count: byNode, from: to - byNode, to: to - 1 });
  }

  private miss(event: GapEvent): void {
    if (event.cause === 'kept_back') this.keptBack += event.count;
    else this.missing += event.count;
    if (event.cause === 'unexplained') this.unexplained += event.count;
    this.addEvent({ ...event, duration: this.apart });
  }

  /** Counts samples that the DAC does not report as missing; `from` is the first one, if all of them follow it. */
  private missHere(cause: GapCause, count: number, at: number, from: number | undefined): void {
    this.notHere += count;
    this.causesHere = new Map(this.causesHere).set(cause, (this.causesHere.get(cause) ?? 0) + count);
    this.miss({ at, cause, count, ...(from === undefined ? {} : { from, to: from + count - 1 }) });
  }

  /** Returns the cause of the samples that the node did not report as dropped. */
  private causeOfRest(): GapCause {
    if (this.announced !== undefined) return this.announced;
    if (this.isEpochNew) return 'epoch_changed';
    return this.isReplay ? 'not_recorded' : 'unexplained';
  }

  private addEvent(event: GapEvent): void {
    // A new list each time: the old one may be on its way to the page.
    this.events = [event, ...this.events].slice(0, KEPT_EVENTS);
  }

  private clearAnnouncements(keepRun: boolean): void {
    this.isRunNew = keepRun;
    this.isEpochNew = false;
    this.announced = undefined;
    this.reported = [];
  }
}
