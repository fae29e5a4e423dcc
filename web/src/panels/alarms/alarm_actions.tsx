import { useSignal } from '@preact/signals';
import { type Alarm, isShelved, needsAttention } from '../../alarms/alarm.ts';
import {
  type AlarmAction,
  MAX_COMMENT,
  MAX_SHELVE_MINUTES,
  mayAct,
  SHELVE_SECONDS,
} from '../../state/alarm_actions.ts';
import { alarmListStrings } from '../../strings/alarm_list.ts';

const words = alarmListStrings.alarmList;

/** What an operator can do with an alarm, with a comment. */
export function AlarmActions(props: {
  alarm: Alarm;
  onAct: (action: AlarmAction, comment: string) => void;
  onClose: () => void;
}) {
  const { alarm, onClose } = props;
  const comment = useSignal('');
  const onAct = (action: AlarmAction) => props.onAct(action, comment.peek());
  const isShut = !mayAct.value;
  return (
    <fieldset
      class="alarm-actions"
      disabled={isShut}
      data-testid="alarm-actions"
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose();
      }}
    >
      <legend class="visually-hidden">{words.actions}</legend>
      {isShut && <p class="hint">{words.notAllowed}</p>}
      <input
        class="input alarm-comment-field"
        type="text"
        maxLength={MAX_COMMENT}
        placeholder={words.comment}
        aria-label={words.comment}
        title={words.commentHint}
        data-testid="alarm-comment"
        value={comment.value}
        onInput={(event) => {
          comment.value = event.currentTarget.value;
        }}
      />
      {needsAttention(alarm) && (
        <button
          type="button"
          class="button button-main"
          data-testid="acknowledge-comment"
          onClick={() => onAct({ action: 'acknowledge' })}
        >
          {words.acknowledge}
        </button>
      )}
      {isShelved(alarm) ? (
        <Plain label={words.unshelve} testId="unshelve" onClick={() => onAct({ action: 'unshelve' })} />
      ) : (
        <Shelve onAct={onAct} />
      )}
      {alarm.isSuppressed ? (
        <Plain label={words.unsuppress} testId="unsuppress" onClick={() => onAct({ action: 'unsuppress' })} />
      ) : (
        <Plain label={words.suppress} testId="suppress" onClick={() => onAct({ action: 'suppress' })} />
      )}
      {alarm.isOutOfService ? (
        <Plain label={words.inService} testId="in-service" onClick={() => onAct({ action: 'in-service' })} />
      ) : (
        <Plain
          label={words.outOf}
          testId="out-of-service"
          onClick={() => onAct({ action: 'out-of-service' })}
        />
      )}
    </fieldset>
  );
}

function Plain({ label, testId, onClick }: { label: string; testId: string; onClick: () => void }) {
  return (
    <button type="button" class="button" data-testid={testId} onClick={onClick}>
      {label}
    </button>
  );
}

const ONCE = 'once';
const CUSTOM = 'custom';

function Shelve({ onAct }: { onAct: (action: AlarmAction) => void }) {
  const choice = useSignal(String(SHELVE_SECONDS[0]));
  const minutes = useSignal('30');
  const typed = Number(minutes.value);
  const isTyped = choice.value === CUSTOM;
  const isWrong = isTyped && !(typed > 0 && typed <= MAX_SHELVE_MINUTES);
  const shelve = () => {
    if (choice.peek() === ONCE) onAct({ action: 'shelve', once: true });
    else onAct({ action: 'shelve', seconds: isTyped ? Math.round(typed * 60) : Number(choice.peek()) });
  };
  return (
    <span class="alarm-shelve">
      <select
        class="input"
        aria-label={words.shelveFor}
        data-testid="shelve-for"
        value={choice.value}
        onChange={(event) => {
          choice.value = event.currentTarget.value;
        }}
      >
        {SHELVE_SECONDS.map((seconds) => (
          <option key={seconds} value={seconds}>
            {words.shelveTimes[seconds]}
          </option>
        ))}
        <option value={ONCE}>{words.shelveOnce}</option>
        <option value={CUSTOM}>{words.shelveCustom}</option>
      </select>
      {isTyped && (
        <input
          class="input shelve-minutes"
          type="number"
          min="1"
          max={MAX_SHELVE_MINUTES}
          aria-label={words.minutes}
          aria-invalid={isWrong}
          data-testid="shelve-minutes"
          value={minutes.value}
          onInput={(event) => {
            minutes.value = event.currentTarget.value;
          }}
        />
      )}
      <button type="button" class="button" disabled={isWrong} data-testid="shelve" onClick={shelve}>
        {words.shelve}
      </button>
    </span>
  );
}
