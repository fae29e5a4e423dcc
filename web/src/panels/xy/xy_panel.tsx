import { useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { ramp } from '../../charts/mix.ts';
import type { Palette } from '../../charts/palette.ts';
import { Plane } from '../../charts/plane.ts';
import { ScaleRange } from '../../charts/scale_range.ts';
import { GapSummary } from '../../components/gap_summary.tsx';
import { PastNote } from '../../components/past_note.tsx';
import { Choice, Toggle } from '../../components/toggle.tsx';
import { usePalette } from '../../components/use_palette.ts';
import { useSize } from '../../components/use_size.ts';
import { useView } from '../../components/use_view.ts';
import { formatWithin } from '../../format/tick_labels.ts';
import { formatCursor, formatSpan } from '../../format/time.ts';
import { pointAt } from '../../series/point_at.ts';
import type { Trace } from '../../series/trace.ts';
import { finiteExtremes, ValueScale } from '../../series/value_scale.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { changePanel } from '../../state/panels.ts';
import { cursorTime, ends, range } from '../../state/time.ts';
import { isWithin } from '../../stream/gap_at.ts';
import type { AnswerOf } from '../../stream/query.ts';
import { computedPanelStrings, infiniteWords } from '../../strings/computed_panels.ts';
import { strings } from '../../strings/strings.ts';
import { registerPicture } from '../shared/exports.ts';
import { ExpressionLines } from '../shared/expression_lines.tsx';
import { ExpressionNames } from '../shared/expression_names.tsx';
import { TRAILS } from '../shared/expressions.ts';
import type { DescribedLine } from '../shared/lines.ts';
import { PanelFooter } from '../shared/panel_footer.tsx';
import { useExpressions } from '../shared/use_expressions.ts';
import { drawTrace } from './draw_trace.ts';

type Spec = SpecOf<'xy'>;

const words = computedPanelStrings.xy;
const COLORS = 24;

/** One value over another. Time is the color: from faint to strong. */
export function XyPanel({ spec }: { spec: Spec }) {
  const place = useRef<HTMLDivElement>(null);
  const plane = useRef<Plane>();
  const answer = useSignal<AnswerOf<'xy'> | undefined>(undefined);
  const shown = useRef<readonly [number, number]>([0, 1]);
  const { plans, lines } = useExpressions(spec.expressions);
  const palette = usePalette();
  useSize(
    place,
    useCallback((width: number, height: number) => plane.current?.resize(width, height), []),
  );
  useEffect(() => {
    if (!place.current || lines.length < 2) return;
    const made = planeOf(place.current, spec, lines, palette, shown, () => answer.peek());
    plane.current = made.plane;
    const stops = [answer.subscribe(made.draw), cursorTime.subscribe(made.draw)];
    const forget = registerPicture(spec.id, {
      vector: () => made.plane.vector(),
      table: () => tableOf(lines, answer.peek()?.trace),
    });
    return () => {
      for (const stop of stops) stop();
      forget();
      made.plane.destroy();
      plane.current = undefined;
    };
  }, [spec, lines, palette, answer]);
  useView(
    () => ({ kind: 'xy', range: range.value, expressions: plans.value }),
    (result) => {
      if (result.answer.kind !== 'xy') return;
      shown.current = [result.from, result.to];
      answer.value = result.answer;
    },
  );
  const trace = answer.value?.trace;
  const infinite =
    trace?.xs.reduce(
      (count, x, index) => count + (Number.isFinite(x) && Number.isFinite(trace.ys[index]) ? 0 : 1),
      0,
    ) ?? 0;
  const isEmpty = trace !== undefined && trace.times.length === 0;
  return (
    <section class="panel" data-testid="xy" data-panel={spec.id}>
      <div
        class="chart"
        role="img"
        aria-label={words.about(lines[1]?.label ?? '', lines[0]?.label ?? '')}
        ref={place}
        data-testid="xy-chart"
        data-points={trace?.times.length}
      />
      {isEmpty && <p class="panel-note">{words.empty}</p>}
      <Readout answer={answer.value} lines={lines} />
      {infinite > 0 && (
        <p class="panel-note" data-testid="xy-infinite">
          {infiniteWords(infinite, '', words.atEdge)}
        </p>
      )}
      <GapSummary gaps={answer.value?.gaps ?? []} />
      <div class="panel-options">
        <TimeScale
          from={Math.max(
            shown.current[0],
            shown.current[1] - (spec.trail ?? Number.POSITIVE_INFINITY) * 1000,
          )}
          to={shown.current[1]}
        />
        <Choice
          label={words.trail}
          value={spec.trail ?? 0}
          values={TRAILS}
          nameOf={(seconds) => (seconds === 0 ? words.whole : formatSpan(seconds * 1000))}
          testId="xy-trail"
          onChange={(trail) => {
            const { trail: _, ...rest } = spec;
            changePanel(spec.id, trail === 0 ? rest : { ...rest, trail });
          }}
        />
        <Toggle
          label={words.equal}
          isOn={spec.isEqual === true}
          testId="xy-equal"
          onChange={(isEqual) => changePanel(spec.id, { ...spec, isEqual })}
        />
        <Toggle
          label={words.dots}
          isOn={spec.isDots === true}
          testId="xy-dots"
          onChange={(isDots) => changePanel(spec.id, { ...spec, isDots })}
        />
      </div>
      <ExpressionNames spec={spec} lines={lines} axes={words.axes} canAdd={false} />
      <ExpressionLines spec={spec} />
      <PanelFooter spec={spec}>
        <PastNote past={answer.value?.past} />
      </PanelFooter>
    </section>
  );
}

function planeOf(
  element: HTMLElement,
  spec: Spec,
  lines: readonly DescribedLine[],
  palette: Palette,
  shown: { readonly current: readonly [number, number] },
  answerOf: () => AnswerOf<'xy'> | undefined,
): { readonly plane: Plane; readonly draw: () => void } {
  const [xs, ys] = [new ScaleRange(), new ScaleRange()];
  const look = {
    colors: ramp(palette.line, palette.series[0], COLORS),
    newest: palette.text,
    isDots: spec.isDots === true,
  };
  const plane = new Plane(
    element,
    { units: [lines[0].unit, lines[1].unit], isEqual: spec.isEqual === true },
    palette,
    {
      paint: (ctx, at) => {
        const trace = answerOf()?.trace;
        if (!trace) return;
        const [from, to] = shown.current;
        const since = spec.trail === undefined ? from : Math.max(from, to - spec.trail * 1000);
        drawTrace(ctx, at, trace, [since, to], look, placeAt(answerOf(), cursorTime.peek()));
      },
      pointed: (at) => {
        const trace = answerOf()?.trace;
        const near = trace && at && nearest(trace, at);
        cursorTime.value = near === undefined ? undefined : trace?.times[near];
      },
    },
  );
  const draw = () => {
    const trace = answerOf()?.trace;
    if (trace) plane.draw(xs.fit(...finiteExtremes(trace.xs)), ys.fit(...finiteExtremes(trace.ys)));
  };
  return { plane, draw };
}

/** What is under the pointer, here or in another chart; otherwise the newest point. */
function Readout(props: { answer: AnswerOf<'xy'> | undefined; lines: readonly DescribedLine[] }) {
  const { answer, lines } = props;
  const trace = answer?.trace;
  const [from, to] = ends();
  const time = cursorTime.value ?? (range.value.live ? undefined : to);
  if (!trace || trace.times.length === 0 || lines.length < 2) return null;
  const at = placeAt(answer, time) ?? trace.times.length - 1;
  if (at < 0) {
    const moment = formatCursor(time ?? to, to - from);
    return (
      <p class="panel-note" data-testid="xy-readout">
        {words.point(moment, '\u2013', '\u2013')}
      </p>
    );
  }
  const show = (values: Float64Array, line: DescribedLine) =>
    formatWithin(values[at], finiteExtremes(values), line.unit);
  return (
    <p class="panel-note" data-testid="xy-readout">
      {words.point(
        formatCursor(trace.times[at], to - from),
        show(trace.xs, lines[0]),
        show(trace.ys, lines[1]),
      )}
    </p>
  );
}

function TimeScale({ from, to }: { from: number; to: number }) {
  return (
    <span class="time-scale" title={words.scale} data-testid="time-scale">
      <span>{formatCursor(from, to - from).slice(0, -4)}</span>
      <span class="time-scale-bar" aria-hidden="true" />
      <span>{formatCursor(to, to - from).slice(0, -4)}</span>
    </span>
  );
}

/** The point at a time; undefined without one. */
function placeAt(answer: AnswerOf<'xy'> | undefined, time: number | undefined): number | undefined {
  const { trace, gaps = [] } = answer ?? {};
  if (!trace || time === undefined) return undefined;
  const lasting = gaps.some((gap) => gap.isLasting && isWithin(gap, time));
  return pointAt(trace, time, lasting);
}

/** The point that is closest on the screen, where both axes have the same length. */
function nearest({ xs, ys }: Trace, [x, y]: readonly [number, number]): number | undefined {
  const across = new ValueScale(...finiteExtremes(xs));
  const up = new ValueScale(...finiteExtremes(ys));
  const [right, top] = [across.share(x), up.share(y)];
  let [found, least] = [-1, Number.POSITIVE_INFINITY];
  for (let index = 0; index < xs.length; index++) {
    const distance = (across.share(xs[index]) - right) ** 2 + (up.share(ys[index]) - top) ** 2;
    if (distance < least) [found, least] = [index, distance];
  }
  return found < 0 ? undefined : found;
}

function tableOf(lines: readonly DescribedLine[], trace: Trace | undefined): string[][] {
  const names = lines.map(({ label, unit }) => `${label} [${unit ?? '1'}]`);
  const rows = Array.from(trace?.times ?? [], (time, index) => [
    new Date(time).toISOString(),
    String(trace?.xs[index]),
    String(trace?.ys[index]),
  ]);
  return [[strings.table.columnEnd, ...names], ...rows];
}
