import { DOORS, type DoorName } from './door.ts';

/** Vain attempts at a door before the next one is tried: one may be the DAC's restart. */
const PATIENCE = 2;

/**
 * Which door to try: the best, until it has failed to open although the DAC answers; then the next. One that has been open
 * is tried again, so a lost connection alone changes nothing; a page that came down starts from the best when it is loaded.
 */
export class DoorChoice {
  private at = 0;
  private failures = 0;

  get name(): DoorName {
    return DOORS[this.at];
  }

  opened(): void {
    this.failures = 0;
  }

  /** It did not open, and the DAC is there. */
  failed(): void {
    this.failures++;
    if (this.failures < PATIENCE) return;
    this.failures = 0;
    this.at = (this.at + 1) % DOORS.length;
  }
}
