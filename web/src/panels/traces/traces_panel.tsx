import { type ReadonlySignal, type Signal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { SERIES_COLORS } from '../../charts/palette.ts';
import { formatQuantity } from '../../format/axis.ts';
import { formatInteger } from '../../format/number.ts';
import { formatCursor } from '../../format/time.ts';
import { changePanel } from '../../state/panels.ts';
import { schemaOfTarget } from '../../state/target_schema.ts';
import { cursorTime, range } from '../../state/time.ts';
import { sourceOf, wantedTrace } from '../../state/traces.ts';
import { wordsOf } from '../../state/tree.ts';
import type { PastPart, RecordLine } from '../../stream/query.ts';
import { type Span, spansOf } from '../../traces/spans.ts';
import { matches, rowsOf, spansIn, type Trace, traceAt, tracesOf } from '../../traces/traces.ts';
import { keyOf } from '../../wire/target.ts';
import { traceStrings } from './strings.ts';
import './traces.css';
import { PastNote } from '../../components/past_note.tsx';
import { Choice } from '../../components/toggle.tsx';
import { useView } from '../../components/use_view.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { registerPicture } from '../shared/exports.ts';
import { PanelFooter } from '../shared/panel_footer.tsx';
import { TRACE_COLORS } from './colors.ts';
import { Waterfall } from './waterfall.tsx';

type Spec = SpecOf<'traces'>;

const words = traceStrings;
/** Spans that are read at most, and traces that are listed. */
const MAX_SPANS = 1000;
const MAX_TRACES = 100;
/** Span of the list's times: to the millisecond. */
const FINE = 0;

/** The trace that each panel shows: a change of a panel makes it anew. */
const kept = new Map<string, Trace>();

/** Traces of programs: a list, and the waterfall of the one that is chosen. */
export function TracesPanel({ spec }: { spec: Spec }) {
  const lines = useSignal<readonly RecordLine[]>([]);
  const past = useSignal<PastPart | undefined>(undefined);
  const wanted = useSignal('');
  const chosen = useSignal(kept.get(spec.id));
  useSignalEffect(() => {
    if (chosen.value) kept.set(spec.id, chosen.value);
    else kept.delete(spec.id);
  });
  useView(
    () => ({ kind: 'records', range: range.value, targets: spec.targets, limit: MAX_SPANS }),
    ({ answer }) => {
      if (answer.kind !== 'records') return;
      lines.value = answer.lines;
      past.value = answer.past;
    },
  );
  const traces = useComputed(() => {
    const targets = new Map(spec.targets.map((target) => [keyOf(target), target]));
    const metricsOf = (key: string) => {
      const target = targets.get(key);
      return (target && schemaOfTarget(target)?.metrics) ?? [];
    };
    return tracesOf(spansOf(lines.value, metricsOf));
  });
  useWanted(spec, traces, chosen);
  useEffect(
    () =>
      registerPicture(spec.id, {
        table: () => tableOf(chosen.peek() ? [chosen.peek() as Trace] : traces.peek()),
      }),
    [spec.id, chosen, traces],
  );
  const colorOf = useColors(spec, traces.value);
  // Spans may still come; a trace that has left the time shown stays.
  const found = chosen.value && traces.value.find(({ key }) => key === chosen.value?.key);
  return (
    <section class="panel" data-testid="traces" data-panel={spec.id}>
      <div class="trace-options">
        {chosen.value ? (
          <button
            type="button"
            class="button button-quiet"
            data-testid="traces-back"
            onClick={() => {
              chosen.value = undefined;
            }}
          >
            {`\u2190 ${words.back}`}
          </button>
        ) : (
          <input
            class="input"
            type="search"
            placeholder={words.search}
            aria-label={words.search}
            data-testid="traces-search"
            value={wanted.value}
            onInput={(event) => {
              wanted.value = event.currentTarget.value;
            }}
          />
        )}
        <Choice
          label={words.color}
          value={spec.color ?? 'target'}
          values={TRACE_COLORS}
          nameOf={(name) => words.colors[name]}
          testId="traces-color"
          onChange={(color) => changePanel(spec.id, { ...spec, color })}
        />
      </div>
      {chosen.value ? (
        <Waterfall
          key={chosen.value.key}
          trace={found && found.count >= chosen.value.count ? found : chosen.value}
          isGone={!found}
          colorOf={colorOf}
          search={wanted}
        />
      ) : (
        <TraceList traces={traces.value} words={wordsOf(wanted.value)} colorOf={colorOf} chosen={chosen} />
      )}
      <PanelFooter spec={spec}>
        <PastNote past={past.value} />
      </PanelFooter>
    </section>
  );
}

/** Takes the trace that somebody wants to see, as soon as it is there. */
function useWanted(
  spec: Spec,
  traces: ReadonlySignal<readonly Trace[]>,
  chosen: Signal<Trace | undefined>,
): void {
  useSignalEffect(() => {
    const wanted = wantedTrace.value;
    if (!wanted || (wanted.key !== undefined && !spec.targets.some((target) => keyOf(target) === wanted.key)))
      return;
    const { key, sequence, time, name } = wanted;
    const found =
      sequence === undefined
        ? traceAt(traces.value, time, name)
        : traces.value.find((trace) =>
            spansIn(trace).some((span) => span.key === key && span.sequence === sequence),
          );
    if (!found) return;
    chosen.value = found;
    wantedTrace.value = undefined;
  });
}

/** A color for each target, node or thread, in the order in which they came. */
function useColors(spec: Spec, traces: readonly Trace[]): (span: Span) => number {
  const known = useMemo(() => new Map<string, number>(), []);
  const by = spec.color ?? 'target';
  const nameOfSpan = (span: Span) => (by === 'node' ? (JSON.parse(span.key)[0] as string) : span[by]);
  for (const trace of traces.toReversed())
    for (const { span } of trace.roots) remember(known, nameOfSpan(span));
  return (span) => remember(known, nameOfSpan(span));
}

function remember(known: Map<string, number>, name: string): number {
  let color = known.get(name);
  if (color === undefined) {
    color = known.size % SERIES_COLORS;
    // Names come from outside, and there may be any number of them.
    if (known.size < 1000) known.set(name, color);
  }
  return color;
}

function TraceList(props: {
  traces: readonly Trace[];
  words: readonly string[];
  colorOf: (span: Span) => number;
  chosen: Signal<Trace | undefined>;
}) {
  const { traces, words: wanted, colorOf, chosen } = props;
  const found = traces.filter(
    (trace) => wanted.length === 0 || spansIn(trace).some((span) => matches(span, wanted)),
  );
  const longest = found.slice(0, MAX_TRACES).reduce((most, { start, end }) => Math.max(most, end - start), 0);
  return (
    <>
      {wanted.length > 0 && (
        <p class="events-searched" role="status" data-testid="traces-found">
          {words.found(formatInteger(found.length), formatInteger(traces.length))}
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <ol class="trace-list" aria-label={words.list} tabIndex={0}>
        {found.length === 0 && <li class="hint">{traces.length === 0 ? words.empty : words.noMatch}</li>}
        {found.slice(0, MAX_TRACES).map((trace) => (
          <TraceEntry
            key={trace.key}
            trace={trace}
            longest={longest}
            color={colorOf(trace.roots[0].span)}
            onChoose={() => {
              chosen.value = trace;
            }}
          />
        ))}
        {found.length > MAX_TRACES && (
          <li class="hint">{words.more(formatInteger(found.length - MAX_TRACES))}</li>
        )}
      </ol>
    </>
  );
}

function TraceEntry(props: { trace: Trace; longest: number; color: number; onChoose: () => void }) {
  const { trace, longest, color, onChoose } = props;
  const { start, end, count, failed, roots } = trace;
  const isUnderCursor = useComputed(() => {
    const time = cursorTime.value;
    return time !== undefined && start <= time && time <= end;
  }).value;
  const [{ span }] = roots;
  return (
    <li>
      <button
        type="button"
        class={`trace-entry${isUnderCursor ? ' is-current' : ''}`}
        data-testid="trace"
        onClick={onChoose}
      >
        <time class="trace-time">{formatCursor(start, FINE)}</time>
        <span class="trace-name">{span.name}</span>
        <span class="trace-source">{sourceOf(span)}</span>
        <span class="trace-length" aria-hidden="true">
          <span
            class={`trace-bar series-${color}`}
            style={{ width: `${(100 * (end - start)) / (longest || 1)}%` }}
          />
        </span>
        <span class="trace-duration">{formatQuantity(end - start, 'ms', false)}</span>
        <span class="trace-count">
          {words.spans(formatInteger(count), count === 1)}
          {failed > 0 && <span class="is-bad"> {words.failed(formatInteger(failed))}</span>}
        </span>
      </button>
    </li>
  );
}

function tableOf(traces: readonly Trace[]): string[][] {
  const rows = traces.flatMap((trace) =>
    rowsOf(trace, new Set()).map(({ node: { span }, depth }) => [
      new Date(span.start).toISOString(),
      sourceOf(span),
      String(depth),
      span.name,
      span.target,
      span.thread,
      String(span.end - span.start),
      span.busy === undefined ? '' : String(span.busy),
      span.isFailed ? 'ERROR' : 'OK',
      span.id,
      span.parent,
    ]),
  );
  return [[...words.table], ...rows];
}
