import { useSignal } from '@preact/signals';
import { lazy } from '../../components/lazy.tsx';
import { mayAdminister } from '../../state/session.ts';
import { alarmListStrings } from '../../strings/alarm_list.ts';

const words = alarmListStrings.alarmList;
const DestinationList = lazy(async () => (await import('./destination_list.tsx')).DestinationList);

/** Who is notified of alarms, below their list. It is read only while it is open. */
export function Destinations() {
  const isOpen = useSignal(false);
  if (!mayAdminister.value) return null;
  return (
    <details
      class="destinations"
      data-testid="destinations"
      open={isOpen.value}
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open;
      }}
    >
      <summary title={words.destinationsTip} data-testid="open-destinations">
        {words.destinations}
      </summary>
      {isOpen.value && <DestinationList />}
    </details>
  );
}
