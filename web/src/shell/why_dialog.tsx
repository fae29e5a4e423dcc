import '../styles/alarms.css';
import type { Metric, Value } from '@oasis/wire';
import { type ReadonlySignal, untracked, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { type Entry, readJournal } from '../alarms/journal.ts';
import { CompoundValue } from '../components/compound_value.tsx';
import { Dialog } from '../components/dialog.tsx';
import { useView } from '../components/use_view.ts';
import { formatQuantity } from '../format/axis.ts';
import { formatInteger } from '../format/number.ts';
import { formatClock, formatInstant, formatSpan } from '../format/time.ts';
import { formatUnit } from '../format/unit.ts';
import { AlarmChart } from '../panels/shared/alarm_chart.tsx';
import type { PastState } from '../past/reads.ts';
import type { GapMark } from '../series/causes.ts';
import { byBrowser, byBrowserOfDac, byNode } from '../state/alarm_clock.ts';
import { openDialog } from '../state/dialogs.ts';
import { enumeratorOf } from '../state/enumerators.ts';
import { borrow } from '../state/panels.ts';
import { entryOf } from '../state/registry.ts';
import { cellsOf } from '../state/store.ts';
import { show } from '../state/time.ts';
import { type Explained, explained } from '../state/why.ts';
import type { SampleView } from '../stream/view.ts';
import { historyStrings } from '../strings/alarm_history.ts';
import { alarmListStrings } from '../strings/alarm_list.ts';
import { strings } from '../strings/strings.ts';
import type { Target } from '../wire/target.ts';

const words = historyStrings.why;
const alarmWords = alarmListStrings.alarmList;
/** Shown before and after the moment. */
const AROUND_MS = 30_000;
/** Entries of the alarm around the moment. */
const TRACE = 12;

/** Why an alarm is as it is: the entry of the journal, the samples around it, and what is missing of them. */
export function WhyDialog() {
  const found = explained.value;
  if (!found) return null;
  const { rule } = found.of === 'entry' ? found.entry : found.alarm;
  return (
    <Dialog title={words.title(rule)} testId="why">
      <Body found={found} />
    </Dialog>
  );
}

function Body({ found }: { found: Explained }) {
  const { node, instance } = found.of === 'entry' ? found.entry : found.alarm;
  const target = useMemo(() => ({ node, instance }), [node, instance]);
  const trace = useSignal<readonly Entry[]>([]);
  const gaps = useSignal<readonly GapMark[]>([]);
  useEffect(() => borrow('why', [target]), [target]);
  const entry = found.of === 'entry' ? found.entry : newestOf(trace.value);
  const at = useMemo(() => untracked(() => momentOf(found, entry)), [found, entry]);
  useEffect(() => {
    const end = new AbortController();
    readTrace(found, end.signal).then(
      (entries) => {
        trace.value = entries;
      },
      // Without a journal the alarm still says what it knows.
      () => {},
    );
    return () => end.abort();
  }, [found, trace]);
  // The offset of clocks is measured again and again: the chart stays where it is.
  const moment = useMemo(() => untracked(() => byBrowser(node, at)), [node, at]);
  const [from, to] = [moment - AROUND_MS, moment + AROUND_MS];
  const isKnown = entryOf(target) !== undefined;
  return (
    <div class="why">
      <p class="why-where">
        <bdi>{words.of(instance, node)}</bdi>
      </p>
      <Facts found={found} entry={entry} />
      <button
        type="button"
        class="button button-main"
        data-testid="why-show"
        onClick={() => {
          openDialog.value = undefined;
          show(from, to);
        }}
      >
        {words.show}
      </button>
      {!isKnown && <p class="hint">{words.gone}</p>}
      {isKnown && (
        <>
          <h3>{words.chart}</h3>
          <AlarmChart
            key={moment}
            target={target}
            from={from}
            to={to}
            mark={moment}
            limits={limitsOf(found, entry)}
            onGaps={(marks) => {
              gaps.value = marks;
            }}
          />
          <h3>{words.inputs}</h3>
          <Inputs key={moment} target={target} at={moment} nodeTime={at} />
          <Gaps gaps={gaps} />
        </>
      )}
      <Trace entries={trace.value} />
    </div>
  );
}

/** The entries of the alarm up to the moment, newest first. */
async function readTrace(found: Explained, signal: AbortSignal): Promise<readonly Entry[]> {
  const { rule, node, instance } = found.of === 'entry' ? found.entry : found.alarm;
  const to = found.of === 'entry' ? { to: found.entry.time + AROUND_MS } : {};
  const { entries } = await readJournal({ rule, node, instance, ...to }, TRACE, undefined, signal);
  return entries;
}

/** The last entry that has changed the condition. */
function newestOf(entries: readonly Entry[]): Entry | undefined {
  return entries.find(({ kind }) => kind === 'raised') ?? entries[0];
}

/** Milliseconds by the clock of the node. */
function momentOf(found: Explained, entry: Entry | undefined): number {
  if (found.of === 'entry') return found.entry.time;
  const { raised, since, cleared, node } = found.alarm;
  return entry?.time ?? raised ?? since ?? cleared ?? byNode(node, Date.now());
}

function limitsOf(found: Explained, entry: Entry | undefined) {
  const { limit } = found.of === 'alarm' && !entry ? found.alarm : (entry ?? { limit: undefined });
  return limit === undefined ? [] : [{ value: limit, severity: 'alarm' as const }];
}

function Facts({ found, entry }: { found: Explained; entry: Entry | undefined }) {
  const of = found.of === 'alarm' ? found.alarm : found.entry;
  const { node } = of;
  const value = entry?.value ?? of.value;
  const limit = entry?.limit ?? of.limit;
  const unit = entry?.unit ?? of.unit;
  const since = entry?.since ?? of.since;
  const facts: [string, string][] = [];
  const add = (name: keyof typeof words.facts, text: string | undefined) => {
    if (text) facts.push([words.facts[name], text]);
  };
  if (entry) {
    add('kind', historyStrings.history.entryKinds[entry.kind] ?? entry.kind);
    add('time', formatInstant(byBrowser(node, entry.time)));
    if (entry.dacTime !== undefined) {
      const seen = byBrowserOfDac(entry.dacTime);
      const delay = Math.max(0, seen - byBrowser(node, entry.time));
      add('dacTime', words.latency(formatInstant(seen), formatSpan(delay)));
    }
  }
  const severity = entry?.severity ?? (found.of === 'alarm' ? found.alarm.severity : undefined);
  add('severity', severity && strings.alarms.severities[severity]);
  const state = entry?.state ?? (found.of === 'alarm' ? found.alarm.state : undefined);
  add('state', state && alarmWords.states[state]);
  const judged = { ...of, value, limit, unit };
  const named = (one: number | undefined) =>
    enumeratorOf(judged, one) ?? (one === undefined ? undefined : formatQuantity(one, unit, false));
  add('value', named(value));
  add('limit', named(limit));
  add('since', since === undefined ? undefined : formatInstant(byBrowser(node, since)));
  add('sequence', entry?.sequence === undefined ? undefined : formatInteger(entry.sequence));
  add('missing', entry?.missing === undefined ? undefined : formatInteger(entry.missing));
  add('cause', entry?.cause || (found.of === 'alarm' ? found.alarm.cause : undefined));
  add('quality', (entry ?? of).isKnown ? words.goodQuality : words.unknownQuality);
  add('principal', entry?.principal);
  add('comment', entry?.comment);
  return (
    <>
      {found.of === 'alarm' && found.alarm.message !== '' && (
        <p class="alarm-message">
          <bdi>{found.alarm.message}</bdi>
        </p>
      )}
      <dl class="why-facts" data-testid="why-facts">
        {facts.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <bdi>{text}</bdi>
            </dd>
          </div>
        ))}
      </dl>
      {entry?.isLate && <p class="hint">{words.late}</p>}
    </>
  );
}

/** The last sample at or before the moment. */
function Inputs({ target, at, nodeTime }: { target: Target; at: number; nodeTime: number }) {
  const found = useSignal<{ sample: SampleView | undefined; state: PastState }>({
    sample: undefined,
    state: 'reading',
  });
  useView(
    () => ({ kind: 'moment', range: { live: false, from: at - 1, to: at }, target, nodeTime }),
    ({ answer }) => {
      if (answer.kind === 'moment') found.value = { sample: answer.sample, state: answer.state };
    },
  );
  const schema = cellsOf(target).status.value?.schema;
  const { sample, state } = found.value;
  if (!sample || !schema)
    return <p class="hint">{state === 'reading' || !schema ? words.reading : words.noInputs}</p>;
  return (
    <dl class="why-facts" data-testid="why-inputs">
      {schema.metrics.map((metric, index) => (
        <div key={metric.name}>
          <dt title={metric.doc ?? metric.name}>{metric.label ?? metric.name}</dt>
          <dd>
            <InputValue metric={metric} value={sample.values[index]} />{' '}
            <span class="unit">{formatUnit(metric.unit)}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Nothing if the sample lacks it. */
function InputValue({ metric, value }: { metric: Metric; value: Value | undefined }) {
  if (value === undefined) return null;
  return <CompoundValue type={metric.type} value={value} rate={undefined} meaning={metric} />;
}

function Gaps({ gaps }: { gaps: ReadonlySignal<readonly GapMark[]> }) {
  return (
    <>
      <h3>{words.gaps}</h3>
      {gaps.value.length === 0 ? (
        <p class="hint">{words.noGaps}</p>
      ) : (
        <ul class="why-gaps" data-testid="why-gaps">
          {gaps.value.map(({ from, to, cause, count }) => (
            <li key={`${from} ${to}`}>
              {words.gap(
                formatClock(from),
                formatSpan(Math.max(1, to - from)),
                formatInteger(count),
                strings.gaps.describe(cause, count),
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Trace({ entries }: { entries: readonly Entry[] }) {
  if (entries.length === 0) return null;
  return (
    <>
      <h3>{words.trace}</h3>
      <ul class="why-trace" data-testid="why-trace">
        {entries.map(({ id, kind, time, node, principal, comment }) => (
          <li key={id}>
            <time>{formatInstant(byBrowser(node, time))}</time>{' '}
            <strong>{historyStrings.history.entryKinds[kind] ?? kind}</strong>{' '}
            {principal !== '' && <bdi>{historyStrings.history.by(principal)}</bdi>}{' '}
            {comment !== '' && <bdi class="alarm-comment">{`\u201c${comment}\u201d`}</bdi>}
          </li>
        ))}
      </ul>
    </>
  );
}
