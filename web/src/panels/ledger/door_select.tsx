import { chooseDoor } from '../../state/actions.ts';
import { chosenDoor } from '../../state/door_choice.ts';
import { DOORS, type DoorName } from '../../stream/doors/door.ts';
import { strings } from '../../strings/strings.ts';

const BEST = '';
const words = strings.connection;

/** Chooses the door by hand, or leaves it to the page. */
export function DoorSelect() {
  return (
    <select
      class="input"
      aria-label={words.chooseDoor}
      data-testid="door-choice"
      value={chosenDoor.value ?? BEST}
      onChange={({ currentTarget }) =>
        chooseDoor(currentTarget.value === BEST ? undefined : (currentTarget.value as DoorName))
      }
    >
      <option value={BEST}>{words.bestDoor}</option>
      {DOORS.map((door) => (
        <option key={door} value={door}>
          {words.doors[door]}
        </option>
      ))}
    </select>
  );
}
