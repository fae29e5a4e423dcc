import { signal } from '@preact/signals';

/** Hints for a first visit. */

const STORED = 'oasis.hints';
const SEEN = 'seen';

/** The hint that is shown, by its number; undefined if none is. */
export const hint = signal<number | undefined>(isSeen() ? undefined : 0);

function isSeen(): boolean {
  try {
    return localStorage.getItem(STORED) === SEEN;
  } catch {
    // Without storage they would come back with each visit.
    return true;
  }
}

/** Shows no more hints, in this browser. */
export function endHints(): void {
  hint.value = undefined;
  try {
    localStorage.setItem(STORED, SEEN);
  } catch {
    // As above.
  }
}

export function showHintsAgain(): void {
  hint.value = 0;
  try {
    localStorage.removeItem(STORED);
  } catch {
    // As above.
  }
}
