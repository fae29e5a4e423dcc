import { useSignal } from '@preact/signals';
import { lazy } from '../../components/lazy.tsx';
import { mayAdminister } from '../../state/session.ts';
import { alarmListStrings } from '../../strings/alarm_list.ts';
import '../../styles/alarms.css';
import { useEffect, useRef } from 'preact/hooks';
import { alarmSource } from '../../alarms/book.ts';
import { NowNote } from '../../components/moment_note.tsx';
import { wantsFocus } from '../../state/panels.ts';
import { range } from '../../state/time.ts';
import { DacAlarms } from './dac_alarms.tsx';
import { TabAlarms } from './tab_alarms.tsx';

const words = alarmListStrings.alarmList;

/** The alarms of the DAC; of a DAC without alarms, what this tab has found. */
export function AlarmsPanel() {
  const source = alarmSource.value;
  const section = useRef<HTMLElement>(null);
  const isWanted = wantsFocus.value === 'alarms' && source.kind !== 'waiting';
  useEffect(() => {
    if (!isWanted) return;
    wantsFocus.value = undefined;
    // The list scrolls by keys, and its first alarm comes next.
    const list = section.current?.querySelector<HTMLElement>('.alarm-list');
    (list ?? section.current)?.focus();
  }, [isWanted]);
  return (
    <section
      ref={section}
      tabIndex={-1}
      class="panel alarms-panel"
      data-testid="alarms"
      data-source={source.kind}
    >
      {!range.value.live && <NowNote />}
      {source.kind === 'server' && (
        <>
          <DacAlarms />
          <Destinations />
        </>
      )}
      {source.kind === 'waiting' && <p class="hint">{words.waiting}</p>}
      {source.kind === 'tab' && (
        <>
          <p class="alarms-note" data-testid="alarms-tab-only">
            {words.tabOnly(source.reason)}
          </p>
          <TabAlarms />
        </>
      )}
    </section>
  );
}

const DestinationList = lazy(async () => (await import('./destination_list.tsx')).DestinationList);

/** Who is notified of alarms, below their list. It is read only while it is open. */
function Destinations() {
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
