import { DOORS, type DoorName } from './door.ts';

/** Failed attempts at a door before the next door; one of them may be a restart of the DAC. */
const MAX_FAILURES = 2;

/**
 * Chooses the door to connect through: the chosen one, or the best one, until it fails to open although the DAC
 * answers; then the next. A door that has been open is tried again, so a lost connection alone changes nothing.
 */
export class DoorChoice {
  private chosen: DoorName | undefined;
  private index = 0;
  private failures = 0;

  get name(): DoorName {
    return this.chosen ?? DOORS[this.index];
  }

  /** Whether a better door may work again. */
  get isSecondBest(): boolean {
    return this.chosen === undefined && this.index > 0;
  }

  /** Connects through this door only; without one, through the best that opens. */
  choose(door: DoorName | undefined): void {
    this.chosen = door;
    this.best();
  }

  /** Begins with the best door again. */
  best(): void {
    this.index = 0;
    this.failures = 0;
  }

  opened(): void {
    this.failures = 0;
  }

  /** The door did not open although the DAC answers. */
  failed(): void {
    this.failures++;
    if (this.failures < MAX_FAILURES) return;
    this.failures = 0;
    this.index = (this.index + 1) % DOORS.length;
  }
}
