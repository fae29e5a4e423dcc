import { type ReadonlySignal, useSignal } from '@preact/signals';
import { formatQuantity } from '../../format/axis.ts';
import { formatInteger } from '../../format/number.ts';
import { formatCursor } from '../../format/time.ts';
import { cursorTime, show } from '../../state/time.ts';
import { sourceOf } from '../../state/traces.ts';
import { wordsOf } from '../../state/tree.ts';
import type { Span } from '../../traces/spans.ts';
import { keyOfSpan, matches, rowsOf, type SpanRow, type Trace } from '../../traces/traces.ts';
import { traceStrings } from './strings.ts';

const words = traceStrings;
/** Rows that are drawn at most. */
const ROWS = 400;
const TICKS = [0, 0.25, 0.5, 0.75, 1];
/** Shown beside a trace, as a share of it; and the shortest time that the page shows. */
const MARGIN = 0.1;
const SHORTEST = 25;

/** The spans of a trace, each at its time below the one that it is a part of. */
export function Waterfall(props: {
  trace: Trace;
  isGone: boolean;
  colorOf: (span: Span) => number;
  search: ReadonlySignal<string>;
}) {
  const { trace, isGone, colorOf, search } = props;
  const collapsed = useSignal<ReadonlySet<string>>(new Set());
  const opened = useSignal<string | undefined>(undefined);
  const rows = rowsOf(trace, collapsed.value);
  const wanted = wordsOf(search.value);
  const [{ span: root }] = trace.roots;
  const length = trace.end - trace.start;
  const toggle = (key: string) => {
    const next = new Set(collapsed.peek());
    if (!next.delete(key)) next.add(key);
    collapsed.value = next;
  };
  return (
    <>
      <div class="trace-head" data-testid="trace-head">
        <strong>{root.name}</strong>
        <span>{formatCursor(trace.start, 0)}</span>
        <span>{formatQuantity(length, 'ms', false)}</span>
        <span>{words.spans(formatInteger(trace.count), trace.count === 1)}</span>
        {trace.failed > 0 && <span class="is-bad">{words.failed(formatInteger(trace.failed))}</span>}
        <button
          type="button"
          class="button"
          title={words.showTimeTip}
          data-testid="trace-show-time"
          onClick={() => {
            const margin = Math.max(length * MARGIN, (SHORTEST - length) / 2);
            show(trace.start - margin, trace.end + margin);
          }}
        >
          {words.showTime}
        </button>
      </div>
      {isGone && <p class="panel-note">{words.gone}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <section class="waterfall" tabIndex={0} aria-label={words.rows} data-testid="waterfall">
        <div class="waterfall-ticks" aria-hidden="true">
          <span class="waterfall-scale">
            {TICKS.map((share) => (
              <span key={share} style={{ left: `${100 * share}%` }}>
                {formatQuantity(length * share, 'ms', false)}
              </span>
            ))}
          </span>
        </div>
        <ol class="waterfall-rows">
          {rows.slice(0, ROWS).map((row) => (
            <Row
              key={keyOfSpan(row.node.span)}
              row={row}
              trace={trace}
              color={colorOf(row.node.span)}
              isFound={wanted.length > 0 && matches(row.node.span, wanted)}
              isCollapsed={collapsed.value.has(keyOfSpan(row.node.span))}
              isOpen={opened.value === keyOfSpan(row.node.span)}
              onToggle={() => toggle(keyOfSpan(row.node.span))}
              onOpen={() => {
                const key = keyOfSpan(row.node.span);
                opened.value = opened.peek() === key ? undefined : key;
              }}
            />
          ))}
          {rows.length > ROWS && <li class="hint">{words.cut(formatInteger(rows.length - ROWS))}</li>}
        </ol>
      </section>
    </>
  );
}

function Row(props: {
  row: SpanRow;
  trace: Trace;
  color: number;
  isFound: boolean;
  isCollapsed: boolean;
  isOpen: boolean;
  onToggle: () => void;
  onOpen: () => void;
}) {
  const { row, trace, color, isFound, isCollapsed, isOpen, onToggle, onOpen } = props;
  const { span, children, isPart } = row.node;
  const length = trace.end - trace.start || 1;
  const left = (100 * (span.start - trace.start)) / length;
  const width = (100 * (span.end - span.start)) / length;
  return (
    <li class={`span-row${isFound ? ' is-found' : ''}`} data-testid="span-row" data-depth={row.depth}>
      <span class="span-name" style={{ paddingLeft: `${Math.min(row.depth, 20) * 0.8}rem` }}>
        {children.length > 0 ? (
          <button
            type="button"
            class="span-toggle"
            aria-expanded={!isCollapsed}
            aria-label={isCollapsed ? words.expand(span.name) : words.collapse(span.name)}
            data-testid="span-toggle"
            onClick={onToggle}
          >
            {isCollapsed ? '\u25b8' : '\u25be'}
          </button>
        ) : (
          <span class="span-toggle" />
        )}
        <button
          type="button"
          class="span-open"
          aria-expanded={isOpen}
          title={isPart ? words.part : span.target}
          data-testid="span-open"
          onClick={onOpen}
        >
          {span.isFailed && <span class="is-bad">{'\u2716 '}</span>}
          {isPart && '\u2026 '}
          {span.name}
        </button>
      </span>
      <TimeLine span={span} trace={trace} color={color} left={left} width={width} />
      {isOpen && <Details span={span} trace={trace} />}
    </li>
  );
}

/** The bar of a span. Its time under the pointer is that of all charts. */
function TimeLine(props: { span: Span; trace: Trace; color: number; left: number; width: number }) {
  const { span, trace, color, left, width } = props;
  const length = trace.end - trace.start || 1;
  const time = cursorTime.value;
  const at = time === undefined ? Number.NaN : (100 * (time - trace.start)) / length;
  const label = formatQuantity(span.end - span.start, 'ms', false);
  // The label is on the longer side.
  const isLeft = left > 100 - left - width;
  return (
    <span
      class="span-line"
      onPointerMove={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        cursorTime.value = trace.start + ((event.clientX - box.left) / box.width) * length;
      }}
      onPointerLeave={() => {
        cursorTime.value = undefined;
      }}
    >
      <span
        class={`span-bar series-${color}${span.isFailed ? ' is-failed' : ''}`}
        style={{ left: `${left}%`, width: `${width}%` }}
      />
      <span
        class="span-duration"
        style={
          isLeft ? { right: `calc(${100 - left}% + 0.3rem)` } : { left: `calc(${left + width}% + 0.3rem)` }
        }
      >
        {label}
      </span>
      {at >= 0 && at <= 100 && <span class="span-cursor" style={{ left: `${at}%` }} />}
    </span>
  );
}

function Details({ span, trace }: { span: Span; trace: Trace }) {
  const details = [
    sourceOf(span),
    span.target,
    span.thread,
    formatCursor(span.start, 0),
    words.at(formatQuantity(span.start - trace.start, 'ms', false)),
    ...(span.busy === undefined ? [] : [words.busy(formatQuantity(span.busy, 'ms', false))]),
    ...span.fields.map(([name, value]) => `${name}=${value}`),
  ];
  return (
    <span class="span-details" data-testid="span-details">
      {details
        .filter((text) => text !== '')
        .map((text, index) => (
          <span key={index}>{text}</span>
        ))}
    </span>
  );
}
