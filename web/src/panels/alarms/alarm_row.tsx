import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { type Alarm, isInhibited, needsAttention } from '../../alarms/alarm.ts';
import { Icon } from '../../components/icon.tsx';
import { formatAge, formatInstant } from '../../format/time.ts';
import type { AlarmAction } from '../../state/alarm_actions.ts';
import { mayAct } from '../../state/alarm_actions.ts';
import { byBrowser } from '../../state/alarm_clock.ts';
import { now } from '../../state/now.ts';
import { explainAlarm } from '../../state/why.ts';
import { alarmListStrings } from '../../strings/alarm_list.ts';
import { strings } from '../../strings/strings.ts';
import { AlarmFigures } from '../shared/alarm_figures.tsx';
import { AlarmActions } from './alarm_actions.tsx';

const words = alarmListStrings.alarmList;

/** An alarm of the DAC with its actions. */
export function AlarmRow(props: { alarm: Alarm; onAct: (action: AlarmAction, comment?: string) => void }) {
  const { alarm, onAct } = props;
  const isOpen = useSignal(false);
  const more = useRef<HTMLButtonElement>(null);
  /** The focus goes back to where it came from: what has it disappears. */
  const close = () => {
    isOpen.value = false;
    more.current?.focus();
  };
  const { rule, node, instance, state, severity, isKnown, message, isAcknowledged } = alarm;
  const classes = [
    'alarm dac-alarm',
    `severity-${severity}`,
    state !== 'normal' && 'is-active',
    !needsAttention(alarm) && 'is-seen',
    !isKnown && 'is-unknown',
  ];
  return (
    <li
      class={classes.filter(Boolean).join(' ')}
      data-testid="alarm"
      data-rule={rule}
      data-instance={instance}
      data-severity={severity}
      data-state={state}
      data-acknowledged={isAcknowledged}
      data-quality={isKnown ? 'good' : 'unknown'}
    >
      <span class="alarm-sign" aria-hidden="true" />
      <div class="alarm-what">
        <p class="alarm-title">
          <strong class="alarm-severity">{strings.alarms.severities[severity]}</strong>{' '}
          <bdi class="alarm-rule">{rule}</bdi> <AlarmFigures alarm={alarm} />
        </p>
        {message !== '' && (
          <p class="alarm-message">
            <bdi>{message}</bdi>
          </p>
        )}
        <p class="alarm-where">
          <bdi>{`${instance} ${strings.card.on(node)}`}</bdi>
          <Since alarm={alarm} />
        </p>
        <Chips alarm={alarm} />
      </div>
      <div class="alarm-buttons">
        <button
          type="button"
          class="button button-quiet"
          title={words.whyTip}
          data-testid="alarm-why"
          onClick={() => explainAlarm(alarm)}
        >
          {words.why}
        </button>
        {needsAttention(alarm) && (
          <button
            type="button"
            class="button"
            disabled={!mayAct.value}
            title={mayAct.value ? undefined : words.notAllowed}
            data-testid="acknowledge"
            onClick={() => onAct({ action: 'acknowledge' })}
          >
            {words.acknowledge}
          </button>
        )}
        <button
          ref={more}
          type="button"
          class="icon-button"
          title={words.actions}
          aria-label={words.actions}
          aria-expanded={isOpen.value}
          data-testid="alarm-more"
          onClick={() => {
            isOpen.value = !isOpen.value;
          }}
        >
          <Icon name="more" />
        </button>
      </div>
      {isOpen.value && (
        <AlarmActions
          alarm={alarm}
          onClose={close}
          onAct={(action, comment) => {
            close();
            onAct(action, comment);
          }}
        />
      )}
    </li>
  );
}

/** Reads the ticking clock. */
function Since({ alarm }: { alarm: Alarm }) {
  const { state, raised, cleared, node } = alarm;
  const at = state === 'active' ? raised : (cleared ?? raised);
  if (at === undefined) return null;
  const time = byBrowser(node, at);
  const age = formatAge(Math.max(0, now.value - time));
  return (
    <>
      {' \u00b7 '}
      <time title={formatInstant(time)}>
        {formatInstant(byBrowser(node, raised ?? at))},{' '}
        {state === 'active' ? words.since(age) : words.ended(age)}
      </time>
    </>
  );
}

function Chips({ alarm }: { alarm: Alarm }) {
  const { state, raised, cleared, isKnown, isAcknowledged, principal, comment, raisedLastHour } = alarm;
  const { shelvedUntil, isShelvedOnce, isSuppressed, isOutOfService } = alarm;
  const shown = state === 'normal' && (raised ?? cleared) === undefined ? 'never' : state;
  const by = principal && !isInhibited(alarm) ? words.acknowledgedBy(principal) : words.acknowledged;
  return (
    <p class="alarm-chips">
      <span class={`chip chip-${state}`} title={words.stateTips[shown]}>
        {words.states[shown]}
      </span>
      {!isKnown && (
        <span class="chip chip-unknown" title={words.unknownTip} data-testid="alarm-unknown">
          {words.unknown}
        </span>
      )}
      {isAcknowledged && state !== 'normal' && (
        <span class="chip">
          <bdi>{by}</bdi>
        </span>
      )}
      {shelvedUntil !== undefined && (
        <span class="chip">{words.shelvedUntil(formatInstant(shelvedUntil))}</span>
      )}
      {isShelvedOnce && <span class="chip">{words.shelvedOnce}</span>}
      {isSuppressed && <span class="chip">{words.suppressed}</span>}
      {isOutOfService && <span class="chip">{words.outOfService}</span>}
      {raisedLastHour > 1 && <span class="chip chip-quiet">{words.repeats(raisedLastHour)}</span>}
      {comment !== '' && (
        <span class="alarm-comment">
          <bdi>{`\u201c${comment}\u201d`}</bdi>
        </span>
      )}
    </p>
  );
}
