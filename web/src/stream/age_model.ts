import type { DoorName } from './doors/door.ts';
import { POLL_REST_MS } from './doors/feed.ts';

/** What the age of a sample depends on; times in milliseconds. */
export interface Way {
  readonly door: DoorName;
  /** Samples per second of the instance. */
  readonly rate: number;
  /** One-way delay from the node to the DAC. */
  readonly toDac: number;
  /** One-way delay from the DAC to this browser. */
  readonly toPage: number;
}

/** Longest time that a batch waits in its node (`linger_ms`), by default. */
export const LINGER_MS = 10;

/**
 * Returns the mean age that the newest sample has when it arrives here, in milliseconds: the model of V. Pimentel and
 * B. G. Nickerson (2012) for each door, extended to batches (docs/reference/page.md, "Age on arrival"). Processing takes
 * no time in it. Tests read `vectors/age-on-arrival.json`; the lab compares it with measurements.
 */
export function expectedAge({ door, rate, toDac, toPage }: Way): number {
  const period = 1000 / rate;
  // A sample leaves at once unless the one before it left within the linger time; then a batch gathers several.
  const inNode = period < LINGER_MS ? period / 2 : 0;
  return inNode + toDac + throughDoor(door, toPage, Math.max(period, LINGER_MS));
}

/** Mean time from the DAC to the page with a message every `period` milliseconds. */
function throughDoor(door: DoorName, delay: number, period: number): number {
  return delay + waitForRequest(door, 2 * delay, period);
}

/**
 * Mean time that the newest message waits for a request, whose way there and back takes `roundTrip`: half of the time
 * between two messages, or between two requests if these come more often.
 */
function waitForRequest(door: DoorName, roundTrip: number, period: number): number {
  switch (door) {
    case 'poll':
      return Math.min(period, roundTrip + POLL_REST_MS) / 2;
    case 'wait':
      // A request that is back in time waits for the message.
      return roundTrip < period ? 0 : period / 2;
    default:
      return 0;
  }
}
