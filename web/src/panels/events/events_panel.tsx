import { isStruct, isVector, judge, type Metric, type Value } from '@oasis/wire';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { CompoundValue } from '../../components/compound_value.tsx';
import { PastNote } from '../../components/past_note.tsx';
import { useView } from '../../components/use_view.ts';
import { formatQuantity } from '../../format/axis.ts';
import { formatInteger } from '../../format/number.ts';
import { formatInstant, formatMoment } from '../../format/time.ts';
import { isSameDay } from '../../format/zone.ts';
import { nameOf } from '../../state/names.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { openPanels } from '../../state/panels.ts';
import { cellsOf } from '../../state/store.ts';
import { range } from '../../state/time.ts';
import { openTrace, spansOfNode } from '../../state/traces.ts';
import { wordsOf } from '../../state/tree.ts';
import type { PastPart, RecordLine } from '../../stream/query.ts';
import { strings } from '../../strings/strings.ts';
import { areSpans } from '../../traces/are_spans.ts';
import { keyOf, type Target, targetOfKey } from '../../wire/target.ts';
import { registerPicture } from '../shared/exports.ts';
import { PanelFooter } from '../shared/panel_footer.tsx';

type Spec = SpecOf<'events'>;

const MAX_SAMPLES = 300;
const words = strings.events;

/** A list of samples, newest first: events and log records. */
export function EventsPanel({ spec }: { spec: Spec }) {
  const found = useSignal<readonly RecordLine[]>([]);
  const past = useSignal<PastPart | undefined>(undefined);
  const wanted = useSignal('');
  const searched = useSignal(0);
  const list = useRef<() => string[][]>(() => []);
  useView(
    () => ({
      kind: 'records',
      range: range.value,
      targets: spec.targets,
      limit: MAX_SAMPLES,
      words: wordsOf(wanted.value),
    }),
    ({ answer }) => {
      if (answer.kind !== 'records') return;
      found.value = answer.lines;
      searched.value = answer.searched;
      past.value = answer.past;
    },
  );
  useEffect(() => registerPicture(spec.id, { table: () => list.current() }), [spec.id]);
  const metricsOf = new Map(spec.targets.map((target) => [keyOf(target), metrics(target)]));
  const lines = found.value;
  list.current = () => [
    ['time', 'instance', 'sequence', 'values'],
    ...lines.map((line) => [
      new Date(line.time).toISOString(),
      instanceOf(line.key),
      String(line.sequence),
      ...line.values.map(String),
    ]),
  ];
  return (
    <section class="panel" data-testid="events" data-panel={spec.id}>
      <input
        class="input events-filter"
        type="search"
        placeholder={words.filter}
        aria-label={words.filter}
        value={wanted.value}
        onInput={(event) => {
          wanted.value = event.currentTarget.value;
        }}
      />
      {wanted.value.trim() !== '' && (
        <div class="events-searched">
          <p role="status" data-testid="events-searched">
            {words.searched(
              formatInteger(lines.length),
              lines.length >= MAX_SAMPLES,
              formatInteger(searched.value),
            )}
          </p>
          <button
            type="button"
            class="button button-quiet"
            data-testid="events-all-time"
            onClick={() => openPanels([{ kind: 'logs', targets: spec.targets, text: wanted.peek() }])}
          >
            {words.allTime}
          </button>
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <ol class="events-list" tabIndex={0}>
        {lines.length === 0 && <li class="hint">{words.empty}</li>}
        {lines.map((line) => (
          <Line
            key={`${line.key} ${line.sequence}`}
            line={line}
            metrics={metricsOf.get(line.key) ?? []}
            isNamed={spec.targets.length > 1}
          />
        ))}
      </ol>
      <PanelFooter spec={spec}>
        <PastNote past={past.value} />
      </PanelFooter>
    </section>
  );
}

function Line({
  line,
  metrics,
  isNamed,
}: {
  line: RecordLine;
  metrics: readonly Metric[];
  isNamed: boolean;
}) {
  const severities = metrics.map((metric, index) => judge(metric, line.values[index])?.severity);
  const severity = severities.includes('alarm') ? 'alarm' : severities.includes('warn') ? 'warn' : '';
  return (
    <li class={`event is-${severity}`} data-testid="event">
      <time dateTime={new Date(line.time).toISOString()}>{formatEvent(line.time)}</time>
      {isNamed && <span class="event-source">{instanceOf(line.key)}</span>}
      <TraceButton line={line} metrics={metrics} />
      {metrics.map((metric, index) =>
        isDetail(metric, metrics) ? null : (
          <span
            key={metric.name}
            class={metric.type === 'string' ? 'event-text' : 'event-value'}
            title={metric.label ?? metric.name}
          >
            <EventValue metric={metric} value={line.values[index]} />
          </span>
        ),
      )}
      {metrics.map((metric, index) =>
        isDetail(metric, metrics) && !isNothing(line.values[index]) ? (
          <span key={metric.name} class="event-detail" title={metric.doc ?? metric.name}>
            {!isFields(metric) && <span class="event-name">{metric.label ?? metric.name}</span>}{' '}
            <EventValue metric={metric} value={line.values[index]} />
          </span>
        ) : null,
      )}
    </li>
  );
}

/** Leads from a span, or from a log record within one, to its trace. */
function TraceButton({ line, metrics }: { line: RecordLine; metrics: readonly Metric[] }) {
  const { node, instance } = targetOfKey(line.key);
  const isSpan = areSpans(metrics);
  const path = line.values[metrics.findIndex(({ name, type }) => name === 'span' && type === 'string')];
  const spans = isSpan ? { node, instance } : path ? spansOfNode(node) : undefined;
  if (!spans) return null;
  // The path begins with the outermost span.
  const name = isSpan ? '' : String(path).split(':')[0];
  const wanted = isSpan ? { time: line.time, sequence: line.sequence } : { time: line.time, name };
  return (
    <button
      type="button"
      class="event-trace"
      title={words.traceTip}
      data-testid="event-trace"
      onClick={() => openTrace(spans, wanted)}
    >
      {words.trace}
    </button>
  );
}

/** A value in a line of text; with its unit, if it has one. */
function EventValue({ metric, value }: { metric: Metric; value: Value }) {
  if (isFields(metric) && Array.isArray(value)) return <>{value.map(fieldText).join(' ')}</>;
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  if (isNumber && metric.unit !== undefined && !metric.enum)
    return <>{formatQuantity(Number(value), metric.unit, false)}</>;
  return <CompoundValue type={metric.type} value={value} rate={undefined} meaning={metric} />;
}

/** Texts that a record is about. */
const MAIN = /^(message|text|name)$/i;

/** Whether a metric of a record with a main text stands after that text, with its name: where it comes from, further values. */
function isDetail(metric: Metric, metrics: readonly Metric[]): boolean {
  const hasMain = metrics.some(({ name, type }) => type === 'string' && MAIN.test(name));
  const isMain = metric.type === 'string' && MAIN.test(metric.name);
  return hasMain && !isMain && metric.kind !== 'event' && metric.enum === undefined;
}

/** An empty text, a list without entries, or 0, which stands for an unknown line or no parent. */
function isNothing(value: Value): boolean {
  return value === '' || value === 0 || value === 0n || (Array.isArray(value) && value.length === 0);
}

/** Whether a metric is a list of values with a name. */
function isFields({ type }: Metric): boolean {
  if (!isVector(type) || !isStruct(type.vector)) return false;
  const { members } = type.vector.struct;
  return members.length === 2 && members[0].name === 'name' && members[1].name === 'value';
}

function fieldText(field: Value): string {
  return Array.isArray(field) ? `${field[0]}=${field[1]}` : String(field);
}

/** Formats a time to the millisecond; on another day to the second. */
function formatEvent(time: number): string {
  return isSameDay(time, Date.now()) ? formatMoment(time, 0) : formatInstant(time);
}

function metrics(target: Target): readonly Metric[] {
  return cellsOf(target).status.value?.schema?.metrics ?? [];
}

function instanceOf(key: string): string {
  return nameOf(targetOfKey(key));
}
