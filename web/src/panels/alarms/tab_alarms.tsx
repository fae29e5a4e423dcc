import {
  type Alarm,
  acknowledge,
  acknowledgeAll,
  alarms,
  clearSeen,
  isLoud,
  toggleLoud,
} from '../../alarms/tab_alarms.ts';
import { Switch } from '../../components/switch.tsx';
import { formatQuantity } from '../../format/axis.ts';
import { formatAge, formatClock } from '../../format/time.ts';
import { now } from '../../state/now.ts';
import { show } from '../../state/time.ts';
import { alarmListStrings } from '../../strings/alarm_list.ts';
import { strings } from '../../strings/strings.ts';
import { targetOfKey } from '../../wire/target.ts';

const words = alarmListStrings.alarmList;
const AROUND_MS = 30_000;

/** Warnings and alarms that this tab has found, and which of them are acknowledged. */
export function TabAlarms() {
  return (
    <>
      <div class="panel-bar">
        <button type="button" class="button" data-testid="acknowledge-all" onClick={acknowledgeAll}>
          {words.acknowledgeAll}
        </button>
        <button
          type="button"
          class="button"
          title={words.clearTip}
          data-testid="clear-resolved"
          onClick={clearSeen}
        >
          {words.clear}
        </button>
        <Switch
          label={words.loud}
          tip={words.loudTip}
          testId="loud"
          isOn={isLoud.value}
          onChange={() => void toggleLoud()}
        />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <ul class="alarm-list" tabIndex={0}>
        {alarms.value.length === 0 && <li class="hint">{words.empty}</li>}
        {alarms.value.map((alarm) => (
          <Row key={alarm.id} alarm={alarm} />
        ))}
      </ul>
    </>
  );
}

function Row({ alarm }: { alarm: Alarm }) {
  const { severity, since, until, isSeen } = alarm;
  const { node, instance } = targetOfKey(alarm.key);
  const isActive = until === undefined;
  return (
    <li
      class={`alarm is-${severity} ${isActive ? 'is-active' : ''} ${isSeen ? 'is-seen' : ''}`}
      data-testid="alarm"
      data-severity={severity}
      data-active={isActive}
    >
      <span class="alarm-sign" aria-hidden="true" />
      <button
        type="button"
        class="alarm-time"
        title={words.goThere}
        onClick={() => show(since - AROUND_MS, since + AROUND_MS)}
      >
        {formatClock(since)}
      </button>
      <span class="alarm-what">
        <strong>{words.severity[severity]}</strong> {alarm.label}{' '}
        <span class="alarm-value">{formatQuantity(alarm.value, alarm.unit, false)}</span> ({alarm.because})
        <span class="alarm-where">
          {[`${instance} ${strings.card.on(node)}`, durationOf(alarm)].filter(Boolean).join(' \u00b7 ')}
        </span>
      </span>
      {!isSeen && (
        <button type="button" class="button" data-testid="acknowledge" onClick={() => acknowledge(alarm.id)}>
          {words.acknowledge}
        </button>
      )}
    </li>
  );
}

/** Reads the ticking clock while the alarm lasts. */
function durationOf({ since, until, isOlder }: Alarm): string {
  const duration = formatAge(Math.max(0, (until ?? now.value) - since));
  const text = until === undefined ? words.active(duration, isOlder) : words.over(duration, isOlder);
  return since === until ? '' : text;
}
