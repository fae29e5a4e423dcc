import { useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import type { AlarmSpan } from '../../alarms/spans.ts';
import type { Limit } from '../../charts/draw_marks.ts';
import { TimeChart } from '../../charts/time_chart.ts';
import { usePalette } from '../../components/use_palette.ts';
import { useSame, useSameValue } from '../../components/use_same.ts';
import { useSize } from '../../components/use_size.ts';
import { useView } from '../../components/use_view.ts';
import type { GapMark } from '../../series/causes.ts';
import { isLine } from '../../series/metrics.ts';
import { cellsOf } from '../../state/store.ts';
import { cursorTime } from '../../state/time.ts';
import type { Source, ViewResult } from '../../stream/query.ts';
import { strings } from '../../strings/strings.ts';
import type { Target } from '../../wire/target.ts';
import { describeLines } from './lines.ts';

/** Most lines of such a chart. */
const LINES = 4;

/**
 * A small chart of an instance in a time of its own, with a mark, spans and limits. The instance must be borrowed, and another
 * time or instance needs another chart.
 */
export function AlarmChart(props: {
  target: Target;
  from: number;
  to: number;
  /** A moment that is marked. */
  mark?: number;
  limits?: readonly Limit[];
  spans?: readonly AlarmSpan[];
  /** Metrics that are drawn; without, the first numbers. */
  metrics?: readonly string[] | undefined;
  onGaps?: (gaps: readonly GapMark[]) => void;
}) {
  const { target, from, to, mark, limits = [], spans = [], metrics, onGaps } = props;
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<TimeChart>();
  const newest = useRef<ViewResult>();
  const columns = useSignal(300);
  const palette = usePalette();
  const lines = useSame(() =>
    describeLines({ id: '', kind: 'series', mode: 'lines', sources: [sourceOf(target, metrics)] }, {}),
  ).value;
  const drawnLimits = useSameValue(limits);

  const resize = useCallback(
    (width: number, height: number) => {
      chart.current?.resize(width, height);
      if (chart.current) columns.value = chart.current.columns;
      if (newest.current) chart.current?.draw(newest.current);
    },
    [columns],
  );
  useSize(place, resize);
  useEffect(() => {
    const element = place.current;
    if (!element || lines.length === 0) return;
    const made = new TimeChart(
      element,
      { styles: lines, isStacked: false, limits: drawnLimits, isShown: () => true },
      palette,
      {
        pointed: (time) => {
          cursorTime.value = time;
        },
        selected: () => {},
      },
    );
    chart.current = made;
    columns.value = made.columns;
    if (newest.current) made.draw(newest.current);
    return () => {
      made.destroy();
      chart.current = undefined;
    };
  }, [lines, drawnLimits, palette, columns]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new chart has to be told, too
  useEffect(() => {
    chart.current?.showAlarms(spans);
    chart.current?.annotate(mark === undefined ? [] : [{ time: mark, text: '' }]);
  }, [spans, mark, lines, drawnLimits, palette]);

  useView(
    () => {
      const source = sourceOf(target, metrics);
      return source.metrics.length === 0
        ? undefined
        : { kind: 'columns', range: { live: false, from, to }, sources: [source], columns: columns.value };
    },
    (result) => {
      newest.current = result;
      chart.current?.draw(result);
      if (result.answer.kind === 'columns') onGaps?.(result.answer.blocks.flatMap(({ gaps }) => gaps));
    },
  );
  return (
    <div class="alarm-chart">
      <div
        class="chart"
        role="img"
        aria-label={strings.panels.chart(lines.map(({ label }) => label).join(', '))}
        ref={place}
        data-testid="alarm-chart"
      />
      <ul class="legend">
        {lines.map(({ label, color }) => (
          <li key={label} class="legend-line">
            <span class={`legend-mark series-${color}`} aria-hidden="true" />
            <span class="legend-name">{label}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What is drawn: the wanted metrics, or else the first numbers. Reads signals. */
function sourceOf(target: Target, wanted: readonly string[] | undefined): Source {
  const { schema } = cellsOf(target).status.value ?? {};
  const drawable = (schema?.metrics ?? []).filter(isLine).map(({ name }) => name);
  const found = drawable.filter((name) => wanted?.includes(name));
  return { target, metrics: (found.length > 0 ? found : drawable).slice(0, LINES) };
}
