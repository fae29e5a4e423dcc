import { isSame } from '../../wire/same.ts';
import '../../styles/alarms.css';
import { effect, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { type Alarm, SEVERITIES } from '../../alarms/alarm.ts';
import { alarmBook, alarmSource } from '../../alarms/book.ts';
import { ENTRY_KINDS, type Entry, type JournalFilter, readJournal } from '../../alarms/journal.ts';
import { useAttempt } from '../../components/use_attempt.ts';
import { useUniqueId } from '../../components/use_unique_id.ts';
import { useVisible } from '../../components/visible.ts';
import { byBrowser, byNode } from '../../state/alarm_clock.ts';
import { Soon } from '../../state/soon.ts';
import { isConnected } from '../../state/store.ts';
import { ends, range } from '../../state/time.ts';
import { historyStrings } from '../../strings/alarm_history.ts';
import { strings } from '../../strings/strings.ts';
import { AlarmEntry } from '../shared/alarm_entry.tsx';
import { AlarmStatistics } from './alarm_statistics.tsx';

const words = historyStrings.history;
const PAGE = 100;
/** Most entries that are drawn. */
const MAX_ENTRIES = 5000;
/** Names that a field offers at most. */
const NAMES = 500;
/** Changes of this time are read together. */
const PAUSE_MS = 300;
/** Least time between two reads. */
const REST_MS = 1000;

interface Choice {
  readonly rule: string;
  readonly node: string;
  readonly instance: string;
  readonly kind: string;
  readonly severity: string;
  readonly time: 'all' | 'shown';
}

const NOTHING: Choice = { rule: '', node: '', instance: '', kind: '', severity: '', time: 'all' };

/** The journal of alarms with filters, and statistics. */
export function AlarmHistoryPanel() {
  const choice = useSignal<Choice>(NOTHING);
  const entries = useSignal<readonly Entry[]>([]);
  const next = useSignal<string | undefined>(undefined);
  const isRead = useSignal(false);
  const { problem, attempt } = useAttempt();
  const isVisible = useVisible();
  const readFor = useRef<JournalFilter>();
  const readProblem = useSignal('');
  const read = async (signal: AbortSignal) => {
    const filter = filterOf(choice.peek());
    const page = await readJournal(filter, PAGE, undefined, signal);
    if (signal.aborted) return;
    // Older entries that the user has loaded stay.
    const kept = isSame(filter, readFor.current) ? continued(page.entries, entries.peek()) : undefined;
    readFor.current = filter;
    entries.value = kept ?? page.entries;
    if (!kept) next.value = page.next;
    isRead.value = true;
  };
  useSignalEffect(() => {
    if (!isVisible.value || alarmSource.value.kind !== 'server') return;
    const soon = new Soon(
      async (signal) =>
        read(signal).then(
          () => {
            readProblem.value = '';
          },
          (error) => {
            if (!signal.aborted) readProblem.value = error instanceof Error ? error.message : String(error);
          },
        ),
      PAUSE_MS,
      REST_MS,
    );
    const stop = effect(() => {
      // New entries come with changes of alarms.
      void [alarmBook.value, isConnected.value];
      if (choice.value.time === 'shown') void range.value;
      soon.ask();
    });
    return () => {
      stop();
      soon.stop();
    };
  });
  const showOlder = () =>
    attempt(async () => {
      const page = await readJournal(filterOf(choice.peek()), PAGE, next.peek());
      entries.value = [...entries.peek(), ...page.entries].slice(0, MAX_ENTRIES);
      next.value = entries.value.length < MAX_ENTRIES ? page.next : undefined;
    });
  // The DAC has no such filter.
  const { severity } = choice.value;
  const found = entries.value.filter((entry) => severity === '' || entry.severity === severity);
  // The DAC has them in the order in which it noted them: of some nodes it learns later.
  const timeOf = ({ node, time }: Entry) => byBrowser(node, time);
  const shown = found.toSorted((one, other) => timeOf(other) - timeOf(one));
  if (alarmSource.value.kind === 'tab')
    return (
      <section class="panel" data-testid="alarm-history">
        <p class="alarms-note">{words.absent}</p>
      </section>
    );
  return (
    <section class="panel alarms-panel" data-testid="alarm-history">
      <Filters
        choice={choice.value}
        onChange={(change) => {
          choice.value = { ...choice.peek(), ...change };
        }}
      />
      <p class="form-problem alarms-problem" role="alert">
        {problem.value || readProblem.value}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <div class="table-scroll" tabIndex={0}>
        <AlarmStatistics
          onRule={(rule) => {
            choice.value = { ...NOTHING, rule };
          }}
        />
        <ol class="alarm-entries" data-testid="alarm-entries">
          {shown.map((entry) => (
            <AlarmEntry key={entry.id} entry={entry} />
          ))}
        </ol>
        {shown.length === 0 && <p class="hint">{isRead.value ? words.none : words.reading}</p>}
        {next.value !== undefined && (
          <p class="alarms-more">
            <button type="button" class="button" data-testid="alarm-entries-older" onClick={showOlder}>
              {words.older}
            </button>
          </p>
        )}
      </div>
    </section>
  );
}

/** Names of all alarms, to choose from. */
function namesIn(alarms: Iterable<Alarm>): Record<'rule' | 'instance' | 'node', readonly string[]> {
  const found = { rule: new Set<string>(), instance: new Set<string>(), node: new Set<string>() };
  for (const alarm of alarms) {
    for (const name of ['rule', 'instance', 'node'] as const)
      if (found[name].size < NAMES) found[name].add(alarm[name]);
  }
  return { rule: [...found.rule].sort(), instance: [...found.instance].sort(), node: [...found.node].sort() };
}

function filterOf({ time, severity: _, ...filter }: Choice): JournalFilter {
  if (time === 'all') return filter;
  const [from, to] = ends();
  return { ...filter, from: byNode(filter.node, from), to: byNode(filter.node, to) };
}

/** New entries before those that are shown; undefined if there may be others between. */
function continued(fresh: readonly Entry[], shown: readonly Entry[]): readonly Entry[] | undefined {
  if (shown.length <= fresh.length) return undefined;
  const at = fresh.findIndex(({ id }) => id === shown[0].id);
  return at < 0 ? undefined : [...fresh.slice(0, at), ...shown].slice(0, MAX_ENTRIES);
}

function Filters({ choice, onChange }: { choice: Choice; onChange: (change: Partial<Choice>) => void }) {
  const list = useUniqueId();
  const known = useComputed(() => namesIn(alarmBook.value.values())).value;
  return (
    <div class="panel-bar history-bar">
      {(['rule', 'instance', 'node'] as const).map((name) => (
        <datalist key={name} id={`${list}-${name}`}>
          {known[name].map((text) => (
            <option key={text} value={text} />
          ))}
        </datalist>
      ))}
      {(['rule', 'instance', 'node'] as const).map((name) => (
        <input
          key={name}
          class="input"
          type="search"
          placeholder={words[name]}
          title={words.exact}
          list={`${list}-${name}`}
          aria-label={words[name]}
          data-testid={`history-${name}`}
          value={choice[name]}
          onInput={(event) => onChange({ [name]: event.currentTarget.value })}
        />
      ))}
      <select
        class="input"
        aria-label={words.kind}
        data-testid="history-kind"
        value={choice.kind}
        onChange={(event) => onChange({ kind: event.currentTarget.value })}
      >
        <option value="">{words.anyKind}</option>
        {ENTRY_KINDS.map((kind) => (
          <option key={kind} value={kind}>
            {words.entryKinds[kind]}
          </option>
        ))}
      </select>
      <select
        class="input"
        aria-label={words.severity}
        data-testid="history-severity"
        value={choice.severity}
        onChange={(event) => onChange({ severity: event.currentTarget.value })}
      >
        <option value="">{words.anySeverity}</option>
        {SEVERITIES.map((severity) => (
          <option key={severity} value={severity}>
            {strings.alarms.severities[severity]}
          </option>
        ))}
      </select>
      <select
        class="input"
        aria-label={words.time}
        data-testid="history-time"
        value={choice.time}
        onChange={(event) => onChange({ time: event.currentTarget.value as Choice['time'] })}
      >
        {(['all', 'shown'] as const).map((time) => (
          <option key={time} value={time}>
            {words.times[time]}
          </option>
        ))}
      </select>
    </div>
  );
}
