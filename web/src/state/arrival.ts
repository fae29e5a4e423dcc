import { signal } from '@preact/signals';
import { type HandOver, parseTrail } from '../going_on/hand_over.ts';
import type { Stop } from '../going_on/rules.ts';
import type { Position } from '../stream/position.ts';
import { keyOf, type Target } from '../wire/target.ts';

/** What the page of another DAC has handed over when it went on here. */
export const arrival = signal<HandOver | undefined>(undefined);

const TRAIL = 'oasis.trail';

/** The DACs that were left lately; kept in this tab, because it may be loaded again. */
let trail: unknown = stored();

/** Where the samples of instances continue that are not watched yet. */
const leftOff = new Map<string, Position>();

/** The person has seen it. */
export function closeArrival(): void {
  arrival.value = undefined;
}

/** Takes what was handed over. */
export function arrive(handOver: HandOver): void {
  arrival.value = handOver;
  for (const position of handOver.positions) leftOff.set(keyOf(position), position);
  trail = handOver.trail;
  try {
    sessionStorage.setItem(TRAIL, JSON.stringify(trail));
  } catch {
    // Without storage it lasts until the page is loaded again.
  }
}

/** The DACs that pages of this tab have left lately, oldest first. */
export function trailNow(): Stop[] {
  return parseTrail(trail, Date.now());
}

/** Returns where the samples of an instance continue, once; undefined if the page before did not watch it. */
export function takeLeftOff(target: Target): Position | undefined {
  const key = keyOf(target);
  const position = leftOff.get(key);
  leftOff.delete(key);
  return position;
}

function stored(): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(TRAIL) ?? '[]');
  } catch {
    return [];
  }
}
