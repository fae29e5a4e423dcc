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
const LINGER_MS = 10;

/**
 * Returns the mean age that the newest sample has when it arrives here, in milliseconds: the model of V. Pimentel and
 * B. G. Nickerson (2012) for each door, extended to batches (docs/reference/page.md, "Age on arrival"). Processing takes
 * no time in it.
 */
export function expectedAge({ door, rate, toDac, toPage }: Way): number {
  const period = 1000 / rate;
  // A sample leaves at once unless the one before it left within the linger time; then a batch gathers several.
  const inNode = period < LINGER_MS ? period / 2 : 0;
  return inNode + toDac + throughDoor(door, toPage, Math.max(period, LINGER_MS));
}

/** Mean time from the DAC to the page with a message every `period` milliseconds. */
function throughDoor(door: DoorName, delay: number, period: number): number {
  switch (door) {
    case 'poll':
      return 2 * delay + POLL_REST_MS / 2;
    case 'wait':
      // With more than half a period of delay the next request comes back to samples that wait already.
      return delay < period / 2 ? delay : 2 * delay;
    default:
      return delay;
  }
}
