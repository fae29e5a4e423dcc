import { type ReadonlySignal, untracked, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Entry } from '../../alarms/journal.ts';
import { useAttempt } from '../../components/use_attempt.ts';
import { formatInteger } from '../../format/number.ts';
import {
  chartTime,
  countsOf,
  metricsIn,
  type Preview,
  previewRules,
  previewSpans,
  sourcesOf,
} from '../../rules/preview.ts';
import { byBrowser } from '../../state/alarm_clock.ts';
import { clock } from '../../state/now.ts';
import { borrow } from '../../state/panels.ts';
import { registry } from '../../state/registry.ts';
import { ends } from '../../state/time.ts';
import { ruleStrings } from '../../strings/rules.ts';
import { strings } from '../../strings/strings.ts';
import { keyOf, type Target } from '../../wire/target.ts';
import { AlarmChart } from '../shared/alarm_chart.tsx';
import { AlarmEntry } from '../shared/alarm_entry.tsx';

const words = ruleStrings.rules.preview;
const SPANS = [900_000, 3_600_000, 21_600_000, 86_400_000] as const;
const SHOWN_SPAN = 'shown';
/** Events that are listed. */
const ROWS = 200;

/** What rules would have reported, before they are saved. */
export function RulePreview({ text }: { text: ReadonlySignal<string> }) {
  const span = useSignal<string>(String(3_600_000));
  const found = useSignal<{ readonly of: string; readonly preview: Preview } | undefined>(undefined);
  const isRunning = useSignal(false);
  const running = useRef<AbortController>();
  const { problem, attempt } = useAttempt();
  useEffect(() => () => running.current?.abort(), []);
  const run = () =>
    attempt(async () => {
      running.current?.abort();
      const end = new AbortController();
      running.current = end;
      isRunning.value = true;
      const of = text.peek();
      const now = clock();
      const time = span.peek() === SHOWN_SPAN ? ends() : ([now - Number(span.peek()), now] as const);
      try {
        const preview = await previewRules(of, time, end.signal);
        if (!end.signal.aborted) found.value = { of, preview };
      } catch (error) {
        if (!end.signal.aborted) throw error;
      } finally {
        if (running.current === end) isRunning.value = false;
      }
    });
  const result = found.value;
  return (
    <section class="rule-preview" aria-label={words.title}>
      <div class="panel-bar">
        <button
          type="button"
          class="button"
          title={words.tip}
          disabled={isRunning.value}
          data-testid="rule-preview"
          onClick={run}
        >
          {words.run}
        </button>
        <select
          class="input"
          aria-label={words.span}
          data-testid="rule-preview-span"
          value={span.value}
          onChange={(event) => {
            span.value = event.currentTarget.value;
          }}
        >
          {SPANS.map((length) => (
            <option key={length} value={length}>
              {words.spans[length]}
            </option>
          ))}
          <option value={SHOWN_SPAN}>{words.shown}</option>
        </select>
        <span class="rule-preview-note" role="status">
          {isRunning.value ? words.running : result && result.of !== text.value ? words.outdated : ''}
        </span>
      </div>
      <p class="form-problem alarms-problem" role="alert" data-testid="rule-preview-problem">
        {problem.value}
      </p>
      {result && <Result key={result.preview.to} preview={result.preview} text={result.of} />}
    </section>
  );
}

function Result({ preview, text }: { preview: Preview; text: string }) {
  const { events, samples, instances, missing, notes, isTruncated, diagnostics } = preview;
  if (diagnostics.length > 0) return <p class="form-problem alarms-problem">{words.errors}</p>;
  return (
    <div class="rule-result" data-testid="rule-result" data-events={events.length}>
      {events.length === 0 && <p class="rule-would">{words.nothing}</p>}
      {countsOf(events).map(({ rule, kinds }) => (
        <p key={rule} class="rule-would" data-testid="rule-would">
          {words.would(rule, [...kinds].map(([kind, count]) => words.part(kind, count)).join(', '))}
        </p>
      ))}
      <p class="hint">
        {words.figures(
          formatInteger(samples),
          ruleStrings.rules.instances(instances),
          formatInteger(missing),
        )}
      </p>
      {isTruncated && <p class="form-problem">{words.truncated}</p>}
      {notes.length > 0 && (
        <ul class="rule-notes">
          {notes.map((note) => (
            <li key={note}>
              <bdi>{note}</bdi>
            </li>
          ))}
        </ul>
      )}
      <Sources preview={preview} text={text} />
      <ol class="alarm-entries">
        {events.slice(0, ROWS).map((event) => (
          <AlarmEntry key={event.id} entry={event} isPreview={true} />
        ))}
      </ol>
      {events.length > ROWS && <p class="hint">{words.more(formatInteger(events.length - ROWS))}</p>}
    </div>
  );
}

/** A chart of one of the instances that have events. */
function Sources({ preview, text }: { preview: Preview; text: string }) {
  const { events } = preview;
  const sources = useMemo(() => sourcesOf(events).filter(isKnown), [events]);
  const chosen = useSignal(0);
  const target = sources[chosen.value];
  useEffect(() => (target ? borrow('preview', [target]) : undefined), [target]);
  const [from, to] = useMemo(
    () => (target ? timeFor(target, preview) : [preview.from, preview.to]),
    [target, preview],
  );
  const spans = useMemo(() => (target ? spansFor(target, events, to) : []), [target, events, to]);
  const metrics = useMemo(() => metricsIn(text), [text]);
  if (!target) return null;
  return (
    <>
      {sources.length > 1 && (
        <select
          class="input"
          aria-label={words.source}
          data-testid="rule-preview-source"
          value={chosen.value}
          onChange={(event) => {
            chosen.value = Number(event.currentTarget.value);
          }}
        >
          {sources.slice(0, ROWS).map(({ node, instance }, index) => (
            <option key={`${node} ${instance}`} value={index}>
              {`${instance} ${strings.card.on(node)}`}
            </option>
          ))}
        </select>
      )}
      <AlarmChart key={keyOf(target)} target={target} from={from} to={to} spans={spans} metrics={metrics} />
    </>
  );
}

/** The time of the chart, by the browser's clock. */
function timeFor(target: Target, { events, from, to }: Preview): [number, number] {
  const own = events
    .filter((event) => keyOf(event) === keyOf(target))
    .map((event) => ({ ...event, time: untracked(() => byBrowser(target.node, event.time)) }));
  return chartTime(own, from, to);
}

function isKnown(target: Target): boolean {
  return registry.peek()?.instances.some((entry) => keyOf(entry) === keyOf(target)) ?? false;
}

function spansFor(target: Target, events: readonly Entry[], to: number) {
  const own = events.filter((event) => keyOf(event) === keyOf(target));
  const { node } = target;
  return previewSpans(own, Number.POSITIVE_INFINITY).map((span) => ({
    ...span,
    from: byBrowser(node, span.from),
    to: Math.min(to, byBrowser(node, span.to)),
  }));
}
