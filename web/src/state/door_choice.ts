import { signal } from '@preact/signals';
import { storedName } from '../api/page_root.ts';
import { DOORS, type DoorName } from '../stream/doors/door.ts';

/** The door that the user chose; none for the best one that opens. */

const STORED = 'oasis.door';

export const chosenDoor = signal<DoorName | undefined>(read());

export function storeDoor(door: DoorName | undefined): void {
  chosenDoor.value = door;
  try {
    if (door) localStorage.setItem(storedName(STORED), door);
    else localStorage.removeItem(storedName(STORED));
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

function read(): DoorName | undefined {
  try {
    const stored = localStorage.getItem(storedName(STORED));
    return DOORS.find((door) => door === stored);
  } catch {
    return undefined;
  }
}
