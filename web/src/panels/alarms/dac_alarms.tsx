import { useComputed, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { type Alarm, needsAttention, SEVERITIES } from '../../alarms/alarm.ts';
import { alarmBook, feedProblem, leftOut } from '../../alarms/book.ts';
import { type AlarmSort, type AlarmView, countsOf, SORTS, selectAlarms, VIEWS } from '../../alarms/select.ts';
import { isLoud, toggleLoud } from '../../alarms/tab_alarms.ts';
import { Switch } from '../../components/switch.tsx';
import { useAttempt } from '../../components/use_attempt.ts';
import { formatInteger } from '../../format/number.ts';
import { acknowledgeAll, act, mayAct } from '../../state/alarm_actions.ts';
import { openSingle } from '../../state/panels.ts';
import { alarmListStrings } from '../../strings/alarm_list.ts';
import { strings } from '../../strings/strings.ts';
import { AlarmRow } from './alarm_row.tsx';

const words = alarmListStrings.alarmList;
/** Rows that are drawn at first, and with each further click. */
const ROWS = 100;

/** The alarms of the DAC with a filter and actions. */
export function DacAlarms() {
  const view = useSignal<AlarmView>('standing');
  const sort = useSignal<AlarmSort>('attention');
  const least = useSignal(0);
  const text = useSignal('');
  const rows = useSignal(ROWS);
  const { problem, attempt } = useAttempt();
  const counts = useComputed(() => countsOf(alarmBook.value.values()));
  const found = useComputed(() =>
    selectAlarms(alarmBook.value.values(), {
      view: view.value,
      sort: sort.value,
      least: least.value,
      text: text.value,
    }),
  );
  const list = useRef<HTMLUListElement>(null);
  /** A row that has left the list takes the focus with it. */
  const keepFocus = () =>
    requestAnimationFrame(() => {
      if (document.activeElement === document.body) list.current?.focus();
    });
  const isFiltered = text.value !== '' || least.value > 0;
  return (
    <>
      <div class="panel-bar alarms-bar">
        <fieldset class="choice" aria-label={words.view}>
          {VIEWS.map((name) => (
            <button
              key={name}
              type="button"
              class={view.value === name ? 'choice-option is-current' : 'choice-option'}
              aria-pressed={view.value === name}
              title={words.viewTips[name]}
              data-testid={`alarms-${name}`}
              onClick={() => {
                view.value = name;
                rows.value = ROWS;
              }}
            >
              {words.counted(words.views[name], counts.value[name])}
            </button>
          ))}
        </fieldset>
        <input
          class="input"
          type="search"
          placeholder={words.filter}
          aria-label={words.filter}
          data-testid="alarms-filter"
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
            rows.value = ROWS;
          }}
        />
        <select
          class="input"
          aria-label={words.minimum}
          data-testid="alarms-least"
          value={least.value}
          onChange={(event) => {
            least.value = Number(event.currentTarget.value);
          }}
        >
          {SEVERITIES.map((severity, index) => (
            <option key={severity} value={index}>
              {index === 0 ? words.any : words.atLeast(strings.alarms.severities[severity])}
            </option>
          ))}
        </select>
        <select
          class="input"
          aria-label={words.sort}
          data-testid="alarms-sort"
          value={sort.value}
          onChange={(event) => {
            sort.value = event.currentTarget.value as AlarmSort;
          }}
        >
          {SORTS.map((name) => (
            <option key={name} value={name}>
              {words.sorts[name]}
            </option>
          ))}
        </select>
        <span class="alarms-links">
          <button
            type="button"
            class="button button-quiet"
            title={words.historyTip}
            data-testid="open-alarm-history"
            onClick={() => openSingle('alarm-history')}
          >
            {words.history}
          </button>
          <button
            type="button"
            class="button button-quiet"
            title={words.rulesTip}
            data-testid="open-rules"
            onClick={() => openSingle('rules')}
          >
            {words.rules}
          </button>
          <AcknowledgeShown
            alarms={found.value.filter(needsAttention)}
            onAcknowledge={(alarms) => attempt(() => acknowledgeAll(alarms))}
          />
          <Switch
            label={words.loud}
            tip={words.loudTip}
            testId="loud"
            isOn={isLoud.value}
            onChange={() => void toggleLoud()}
          />
        </span>
      </div>
      <p class="form-problem alarms-problem" role="alert" data-testid="alarms-problem">
        {problem.value || (feedProblem.value && words.stale(feedProblem.value))}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <ul class="alarm-list" tabIndex={0} ref={list}>
        {found.value.length === 0 && (
          <li class="hint" data-testid="no-alarms">
            {isFiltered ? words.noMatch : words.nothing[view.value]}
          </li>
        )}
        {found.value.slice(0, rows.value).map((alarm) => (
          <AlarmRow
            key={alarm.key}
            alarm={alarm}
            onAct={(action, comment) => attempt(() => act(alarm, action, comment).finally(keepFocus))}
          />
        ))}
        {found.value.length > rows.value && (
          <li class="alarms-more">
            <button
              type="button"
              class="button"
              onClick={() => {
                rows.value += ROWS;
              }}
            >
              {words.more(formatInteger(found.value.length - rows.value))}
            </button>
          </li>
        )}
        {leftOut.value > 0 && <li class="hint">{words.leftOut(formatInteger(leftOut.value))}</li>}
      </ul>
    </>
  );
}

function AcknowledgeShown(props: {
  alarms: readonly Alarm[];
  onAcknowledge: (alarms: readonly Alarm[]) => void;
}) {
  const { alarms, onAcknowledge } = props;
  return (
    <button
      type="button"
      class="button"
      disabled={alarms.length === 0 || !mayAct.value}
      title={mayAct.value ? words.acknowledgeShownTip : words.notAllowed}
      data-testid="acknowledge-all"
      onClick={() => onAcknowledge(alarms)}
    >
      {alarms.length > 1 ? words.acknowledgeShown(alarms.length) : words.acknowledgeAll}
    </button>
  );
}
