import { Backoff } from './backoff.ts';
import { ClockOffset } from './clock.ts';
import type { LossReason } from './doors/door.ts';
import type { ConnectionView } from './view.ts';

const FIRST_PINGS = 4;
const FIRST_PING_MS = 150;
const PING_MS = 2000;
const SILENCE_MS = 5000;
const CONNECT_MS = 3000;
const ASLEEP_MS = 60_000;

export type LinkStep = 'connect' | 'ping' | 'give-up';

/** The state of the connection: when to connect, when to ping, when to give up. It does not know the messages. */
export class Link {
  readonly clock = new ClockOffset();
  phase: ConnectionView['phase'] = 'connecting';
  reason: LossReason = 'first';
  code: number | undefined;
  since = 0;
  isDirty = true;

  private readonly backoff: Backoff;
  private readonly pings = new Map<number, number>();
  private sentPings = 0;
  /** When the next step is due: an attempt, the end of an attempt, a ping. */
  private due = 0;
  private isConnecting = false;
  private lastReceived = 0;

  /** When the DAC was heard last. */
  get heardAt(): number {
    return this.lastReceived;
  }

  /** Whether nothing was read for so long that the browser must have stopped the page: the DAC answers each ping. */
  isAsleep(now: number): boolean {
    return this.phase === 'connected' && now - this.lastReceived > ASLEEP_MS;
  }

  constructor(random: () => number) {
    this.backoff = new Backoff(random);
  }

  get attempts(): number {
    return this.backoff.attempts;
  }

  /** Returns the step that is due now, if any. */
  nextStep(now: number): LinkStep | undefined {
    if (this.phase === 'connected') {
      if (now - this.lastReceived > SILENCE_MS) return 'give-up';
      return now >= this.due ? 'ping' : undefined;
    }
    if (now < this.due) return undefined;
    return this.isConnecting ? 'give-up' : 'connect';
  }

  nextDue(): number {
    return this.phase === 'connected' ? Math.min(this.due, this.lastReceived + SILENCE_MS + 1) : this.due;
  }

  connecting(now: number): void {
    this.isConnecting = true;
    this.due = now + CONNECT_MS;
  }

  welcomed(now: number): void {
    this.phase = 'connected';
    this.since = now;
    this.isConnecting = false;
    this.sentPings = 0;
    this.lastReceived = now;
    this.due = now;
    this.backoff.reset();
    this.clock.reset();
    this.isDirty = true;
  }

  lost(reason: LossReason, code: number | undefined, now: number): void {
    // The first reason is shown; later ones come from failed attempts to reconnect.
    if (this.phase === 'connected' || this.reason === 'first') {
      this.reason = reason;
      this.code = code;
      this.since = now;
    }
    this.phase = 'reconnecting';
    this.isConnecting = false;
    this.pings.clear();
    this.due = now + this.backoff.next();
    this.isDirty = true;
  }

  received(now: number): void {
    this.lastReceived = now;
  }

  pinged(id: number, now: number): void {
    this.pings.set(id, now);
    this.sentPings++;
    this.due = now + (this.sentPings < FIRST_PINGS ? FIRST_PING_MS : PING_MS);
  }

  ponged(id: number, dacTime: number, now: number): void {
    const sent = this.pings.get(id);
    if (sent === undefined) return;
    this.pings.delete(id);
    this.clock.add(sent, now, dacTime);
    this.isDirty = true;
  }
}
