import { signal } from '@preact/signals';
import { DOORS, type DoorName } from '../stream/doors/door.ts';

/** The door that the user chose; none for the best one that opens. */

const STORED = 'oasis.door';

export const chosenDoor = signal<DoorName | undefined>(read());

export function storeDoor(door: DoorName | undefined): void {
  chosenDoor.value = door;
  try {
    if (door) localStorage.setItem(STORED, door);
    else localStorage.removeItem(STORED);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

function read(): DoorName | undefined {
  try {
    const stored = localStorage.getItem(STORED);
    return DOORS.find((door) => door === stored);
  } catch {
    return undefined;
  }
}
