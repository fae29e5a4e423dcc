import type { GapCause } from './causes.ts';

export interface GapEvent {
  /** Browser clock, milliseconds. */
  readonly at: number;
  readonly cause: GapCause;
  /** Missing samples; 0 for an interruption. */
  readonly count: number;
  /** First and last missing sequence number, if known. */
  readonly from?: number;
  readonly to?: number;
  /** Duration of an interruption in milliseconds. */
  readonly duration?: number;
}

export interface LossView {
  readonly received: number;
  /** Missing samples without those in `keptBack`. */
  readonly missing: number;
  /** Samples that the flight recorder kept back, or that its node dropped: only the DAC's ledger separates the two. */
  readonly keptBack: number;
  readonly unexplained: number;
  /** `missing` and `keptBack` by cause. */
  readonly causes: ReadonlyMap<GapCause, number>;
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
  /** The cause that the DAC gave for the gap before the next batch. */
  private announced: GapCause | undefined;
  private hasRecorder = false;
  private isReplay = false;
  private keptBack = 0;
  private received = 0;
  private missing = 0;
  private unexplained = 0;
  private causes: ReadonlyMap<GapCause, number> = new Map();
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

  /** The next samples come from another log, or from the start of the same log. */
  startLog(name: string): void {
    this.log = { name, received: 0 };
  }

  /** Another page has counted up to this sample, at another DAC. */
  continueAfter(sequence: number): void {
    this.expected = sequence + 1;
    this.isEpochNew = true;
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

  /** Adds a batch. Returns whether it continues the previous one. */
  add(first: number, count: number, dropped: number, at: number): boolean {
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
      this.addEvent({ at, cause: 'node_restart', count: 0 });
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
    const { received, missing, keptBack, unexplained, causes, events, log } = this;
    return { received, missing, keptBack, unexplained, causes, events, log };
  }

  /**
   * Whether the batch starts a new run, in which sequence numbers start at 1. The registry may report the run after the
   * batch.
   */
  private isRestart(first: number, expected: number, dropped: number): boolean {
    if (first < expected) return this.isRunNew || !this.isEpochNew;
    return this.isRunNew && first - expected !== dropped;
  }

  /** Counts the samples in `[from, to)` as missing: the last `dropped` ones by the node, the others by the announced cause. */
  private addMissing(from: number, to: number, dropped: number, at: number): void {
    const missing = to - from;
    if (missing === 0) return;
    const byNode = Math.min(dropped, missing);
    const rest = missing - byNode;
    const isKeptBack = this.hasRecorder;
    this.missing += isKeptBack ? rest : missing;
    if (isKeptBack) this.keptBack += byNode;
    if (rest > 0) {
      const cause = this.causeOfRest();
      if (cause === 'unexplained') this.unexplained += rest;
      this.addEvent({ at, cause, count: rest, from, to: to - byNode - 1 });
    }
    const cause = isKeptBack ? 'kept_back' : 'node_dropped';
    if (byNode > 0) this.addEvent({ at, cause, count: byNode, from: to - byNode, to: to - 1 });
  }

  /** Returns the cause of the samples that the node did not report as dropped. */
  private causeOfRest(): GapCause {
    if (this.announced !== undefined) return this.announced;
    if (this.isEpochNew) return 'epoch_changed';
    return this.isReplay ? 'not_recorded' : 'unexplained';
  }

  private addEvent(event: GapEvent): void {
    const { cause, count } = event;
    if (count > 0) this.causes = new Map(this.causes).set(cause, (this.causes.get(cause) ?? 0) + count);
    // A new list each time: the old one may be on its way to the page.
    this.events = [event, ...this.events].slice(0, KEPT_EVENTS);
  }

  private clearAnnouncements(keepRun: boolean): void {
    this.isRunNew = keepRun;
    this.isEpochNew = false;
    this.announced = undefined;
  }
}
