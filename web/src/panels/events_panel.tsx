import { judge, type Metric } from '@oasis/wire';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { CompoundValue } from '../components/compound_value.tsx';
import { formatInstant, formatMoment } from '../format/time.ts';
import { nameOf } from '../state/names.ts';
import { cellsOf } from '../state/store.ts';
import { range } from '../state/time.ts';
import type { PastPart, RecordLine } from '../stream/query.ts';
import { keyOf, type Target } from '../stream/view.ts';
import { strings } from '../strings.ts';
import { registerPicture } from './exports.ts';
import { PanelFooter } from './panel_footer.tsx';
import { PastNote } from './past_note.tsx';
import type { PanelSpec } from './spec.ts';
import { useView } from './use_view.ts';

type Spec = PanelSpec & { kind: 'events' };

const SHOWN = 300;
const words = strings.events;

/** A list of samples, newest first: events and log records. */
export function EventsPanel({ spec }: { spec: Spec }) {
  const found = useSignal<readonly RecordLine[]>([]);
  const past = useSignal<PastPart | undefined>(undefined);
  const wanted = useSignal('');
  const list = useRef<() => string[][]>(() => []);
  useView(
    () => ({ kind: 'records', range: range.value, targets: spec.targets, limit: SHOWN }),
    ({ answer }) => {
      if (answer.kind !== 'records') return;
      found.value = answer.lines;
      past.value = answer.past;
    },
  );
  useEffect(() => registerPicture(spec.id, { table: () => list.current() }), [spec.id]);
  const metricsOf = new Map(spec.targets.map((target) => [keyOf(target), metrics(target)]));
  const filter = wanted.value.trim().toLowerCase();
  const lines = found.value.filter(
    (line) => filter === '' || line.values.some((value) => String(value).toLowerCase().includes(filter)),
  );
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
      {metrics.map((metric, index) => (
        <span
          key={metric.name}
          class={metric.type === 'string' ? 'event-text' : 'event-value'}
          title={metric.name}
        >
          <CompoundValue type={metric.type} value={line.values[index]} rate={undefined} meaning={metric} />
        </span>
      ))}
    </li>
  );
}

/** Formats a time to the millisecond; on another day to the second. */
function formatEvent(time: number): string {
  const isToday = new Date(time).toDateString() === new Date().toDateString();
  return isToday ? formatMoment(time, 0) : formatInstant(time);
}

function metrics(target: Target): readonly Metric[] {
  return cellsOf(target).status.value?.schema?.metrics ?? [];
}

function instanceOf(key: string): string {
  const [node, instance] = JSON.parse(key) as [string, string];
  return nameOf({ node, instance });
}
