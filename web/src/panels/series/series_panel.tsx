import { useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { type ChartContent, TimeChart } from '../../charts/time_chart.ts';
import { GapNote } from '../../components/gap_note.tsx';
import { NotesNote } from '../../components/notes_note.tsx';
import { PastNote, pastOf } from '../../components/past_note.tsx';
import { usePalette } from '../../components/use_palette.ts';
import { useSame } from '../../components/use_same.ts';
import { useSize } from '../../components/use_size.ts';
import { useValues } from '../../components/use_values.ts';
import { useView } from '../../components/use_view.ts';
import { useWheel } from '../../components/use_wheel.ts';
import { formatSpan } from '../../format/time.ts';
import { formatUnit } from '../../format/unit.ts';
import { allAnnotations, annotationsOn } from '../../state/annotations.ts';
import { explainGap } from '../../state/explained_gap.ts';
import { plansOf } from '../../state/expressions.ts';
import { markers, markersOn } from '../../state/markers.ts';
import { isViewOnly } from '../../state/mode.ts';
import { type SpecOf, targetsOf } from '../../state/panel_kinds.ts';
import { compareAgo, cursorTime, ends, range, show } from '../../state/time.ts';
import { showTraceAt } from '../../state/traces.ts';
import type { PastPart, Query, ViewResult } from '../../stream/query.ts';
import { strings } from '../../strings/strings.ts';
import { isSame } from '../../wire/same.ts';
import { isDragged, readDropped } from '../shared/dragged.ts';
import { registerPicture } from '../shared/exports.ts';
import { ExpressionLines, editExpression } from '../shared/expression_lines.tsx';
import { limitsFor, withSettings } from '../shared/line_look.ts';
import {
  type DescribedLine,
  describeExpressions,
  describeLines,
  type Parts,
  partsIn,
} from '../shared/lines.ts';
import { PanelFooter } from '../shared/panel_footer.tsx';
import { besides, useInstanceAlarms } from '../shared/use_instance_alarms.ts';
import { Legend } from './legend.tsx';
import { LineChoice } from './line_choice.ts';
import { MarkerNote, MarkersCut } from './marker_note.tsx';
import { addToChart } from './more_metrics.ts';

type Spec = SpecOf<'series'>;

const LEGEND_MS = 150;
const words = strings.table;

/** Numbers over time. */
export function SeriesPanel({ spec }: { spec: Spec }) {
  const place = useRef<HTMLDivElement>(null);
  const targets = useRef(targetsOf(spec));
  targets.current = targetsOf(spec);
  const chart = useRef<TimeChart>();
  const newest = useRef<ViewResult>();
  const columns = useSignal(600);
  /** Counts drawings, so that the legend reads the chart again. */
  const drawn = useSignal(0);
  const parts = useSignal<Parts>({});
  /** Whether a metric is dragged over it. */
  const isTaking = useSignal(false);
  const past = useSignal<PastPart | undefined>(undefined);
  // An equal specification makes no new chart.
  const lines = useSame(() => {
    const measured = describeLines(spec, parts.value);
    const all = [...measured, ...describeExpressions(spec.expressions ?? [], measured.length)];
    return withSettings(all, spec.settings);
  }).value;
  const plans = useSame(() => plansOf(spec.expressions ?? []));
  const values = useValues(spec.sources, plans);
  const choice = useRef(new LineChoice()).current;
  /** Marks that are drawn over it. */
  const ghost = useRef<ViewResult>();
  const palette = usePalette();
  const alarms = useInstanceAlarms(spec);
  const reading = useRef<ReturnType<typeof setTimeout>>();

  const resize = useCallback(
    (width: number, height: number) => {
      chart.current?.resize(width, height);
      if (chart.current) columns.value = chart.current.columns;
      if (newest.current) chart.current?.draw(newest.current);
    },
    [columns],
  );
  useSize(place, resize);
  useWheel(place);

  useEffect(() => {
    const element = place.current;
    if (!element || lines.length === 0) return;
    const content: ChartContent = {
      styles: lines,
      isStacked: spec.mode === 'shares',
      limits: limitsFor(lines, spec.settings),
      ...(spec.settings && { axis: spec.settings }),
      isShown: (line) => choice.isShown(line),
    };
    const made = new TimeChart(element, content, palette, {
      pointed: (time) => {
        cursorTime.value = time;
      },
      selected: show,
      clicked: (time) => {
        // Panels of traces show the one at this time.
        showTraceAt(time);
        const gaps = made.gapsAt(time);
        if (gaps.length > 0) explainGap(gaps, targets.current);
      },
    });
    chart.current = made;
    columns.value = made.columns;
    if (newest.current) made.draw(newest.current);
    if (ghost.current) made.drawGhost(ghost.current, compareAgo.peek());
    const forget = registerPicture(spec.id, {
      vector: () => made.vector(),
      legend: () =>
        lines
          .filter((_, line) => choice.isShown(line))
          .map((line) => ({
            name: nameWithUnit(line, spec.mode === 'shares'),
            color: palette.series[line.color % palette.series.length],
          })),
      lines: () => lines,
      units: () => lines.map(({ unit, nativeUnit = unit }) => nativeUnit),
      table: () => tableOf(made, lines, spec.mode === 'shares'),
      about: () => {
        const [from, to] = ends();
        return words.rows(formatSpan((to - from) / made.columns));
      },
    });
    const stop = allAnnotations.subscribe((notes) => made.annotate(annotationsOn(notes, targets.current)));
    const stopMarkers = markers.subscribe((all) => made.mark(markersOn(all, targets.current)));
    const metrics = lines.map(({ metric }) => metric);
    const declared =
      spec.settings?.thresholds || lines.length > 3 ? [] : lines.flatMap(({ limits }) => limits);
    const stopAlarms = alarms.subscribe(({ spans, limits }) =>
      made.showAlarms(spans, spec.mode === 'shares' ? [] : besides(limits, declared, metrics)),
    );
    return () => {
      stop();
      stopAlarms();
      stopMarkers();
      forget();
      made.destroy();
      chart.current = undefined;
    };
  }, [spec.id, spec.mode, spec.settings, lines, choice, columns, palette, alarms]);

  useView(
    () => ({
      kind: 'columns',
      range: range.value,
      sources: spec.sources,
      columns: columns.value,
      expressions: plans.value,
    }),
    (result) => {
      newest.current = result;
      const fromArchive = pastOf(result);
      if (!isSame(fromArchive, past.peek())) past.value = fromArchive;
      const elements = partsIn(result);
      if (!isSame(elements, parts.peek())) {
        // Other lines need a new chart, which draws the newest answer.
        parts.value = elements;
        return;
      }
      if (spec.mode === 'lines' && choice.settle(result, lines)) drawn.value++;
      chart.current?.draw(result);
      // Drawings that take long want fewer columns.
      if (chart.current) columns.value = chart.current.columns;
      // The legend changes only as often as people can read, and ends with the newest values.
      if (reading.current === undefined)
        reading.current = setTimeout(() => {
          reading.current = undefined;
          drawn.value++;
        }, LEGEND_MS);
    },
  );
  useEffect(() => () => clearTimeout(reading.current), []);

  useView(
    (): Query | undefined =>
      compareAgo.value === 0
        ? undefined
        : {
            kind: 'columns',
            range: range.value,
            ago: compareAgo.value,
            sources: spec.sources,
            columns: columns.value,
            expressions: plans.value,
          },
    (result) => {
      ghost.current = result;
      chart.current?.drawGhost(result, compareAgo.peek());
    },
  );
  useEffect(
    () =>
      compareAgo.subscribe((ago) => {
        if (ago !== 0) return;
        ghost.current = undefined;
        chart.current?.drawGhost(undefined, 0);
      }),
    [],
  );

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the command palette adds metrics by keys
    <section
      class={isTaking.value ? 'panel series-panel is-taking' : 'panel series-panel'}
      data-testid="series"
      data-panel={spec.id}
      onDragOver={(event) => {
        if (isViewOnly || spec.mode !== 'lines' || !isDragged(event)) return;
        event.preventDefault();
        event.stopPropagation();
        isTaking.value = true;
      }}
      onDragLeave={() => {
        isTaking.value = false;
      }}
      onDrop={(event) => {
        if (!isDragged(event)) return;
        event.preventDefault();
        event.stopPropagation();
        isTaking.value = false;
        void readDropped(event).then((dropped) => dropped && addToChart(spec.id, dropped));
      }}
    >
      <div
        class="chart"
        role="img"
        aria-label={strings.panels.chart(lines.map(({ label }) => label).join(', '))}
        ref={place}
        data-testid="chart"
      />
      <GapNote chart={chart} drawn={drawn} />
      <MarkerNote chart={chart} drawn={drawn} />
      <Legend
        lines={lines}
        chart={chart}
        drawn={drawn}
        choice={choice}
        isStacked={spec.mode === 'shares'}
        values={values}
        onToggle={() => {
          if (newest.current) chart.current?.draw(newest.current);
          drawn.value++;
        }}
        onEdit={spec.mode === 'lines' ? (index) => editExpression(spec, index) : undefined}
      />
      {spec.mode === 'lines' && <ExpressionLines spec={spec} />}
      <PanelFooter spec={spec}>
        <PastNote past={past.value} />
        <NotesNote isShort />
        <MarkersCut />
      </PanelFooter>
    </section>
  );
}

/** Returns the name of a line with the unit that it is drawn in; shares have the unit 1 and are drawn in percent. */
function nameWithUnit({ label, unit, isCounter }: DescribedLine, isShare: boolean): string {
  const of = isShare ? '%' : formatUnit(unit) + (isCounter ? '/s' : '');
  return of === '' ? label : `${label} [${of}]`;
}

/** The content of the chart, one row for each column of pixels: minimum, maximum and last value of each line. */
function tableOf(chart: TimeChart, lines: readonly DescribedLine[], isShare: boolean): string[][] {
  const names = lines.flatMap(({ label, unit, isCounter }) => {
    const of = isShare ? '%' : `${unit ?? '1'}${isCounter ? '/s' : ''}`;
    return words.figures.map((figure) => `${label} ${figure} [${of}]`);
  });
  return [
    [words.columnEnd, ...names],
    ...chart
      .table()
      .map(({ time, values }) => [
        new Date(time).toISOString(),
        ...values.flat().map((value) => (Number.isNaN(value) ? '' : String(value))),
      ]),
  ];
}
