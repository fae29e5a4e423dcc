import { judge } from '@oasis/wire';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { wordsOf } from '../../components/gap_words.ts';
import { PastNote } from '../../components/past_note.tsx';
import { useView } from '../../components/use_view.ts';
import { convert } from '../../expressions/convert.ts';
import { parseKnown } from '../../expressions/resolve.ts';
import { formatFigure } from '../../format/axis.ts';
import { formatWithin } from '../../format/tick_labels.ts';
import { formatAge, formatInstant } from '../../format/time.ts';
import type { GapMark } from '../../series/causes.ts';
import { Columns, Mark, trueExtremes } from '../../series/columns.ts';
import { metricAt } from '../../series/parts.ts';
import { ValueScale } from '../../series/value_scale.ts';
import { now } from '../../state/now.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { cellsOf } from '../../state/store.ts';
import { range } from '../../state/time.ts';
import type { AnswerOf, Latest, ViewResult } from '../../stream/query.ts';
import { computedPanelStrings } from '../../strings/computed_panels.ts';
import { registerPicture } from '../shared/exports.ts';
import { ExpressionLines } from '../shared/expression_lines.tsx';
import { ExpressionNames } from '../shared/expression_names.tsx';
import { withSettings } from '../shared/line_look.ts';
import type { DescribedLine } from '../shared/lines.ts';
import { PanelFooter } from '../shared/panel_footer.tsx';
import { judgeBy, type Threshold } from '../shared/settings.ts';
import { useExpressions } from '../shared/use_expressions.ts';

type Spec = SpecOf<'number'>;

const words = computedPanelStrings.number;
/** Columns of the course. */
const COLUMNS = 160;
const HEIGHT = 40;
/** Length of the stroke of an infinite value. */
const EDGE_MARK = 5;

/** The last value of the time shown in large digits, and its course below. */
export function NumberPanel({ spec }: { spec: Spec }) {
  const drawing = useRef<SVGSVGElement>(null);
  const latest = useSignal<AnswerOf<'latest'> | undefined>(undefined);
  const course = useSignal<ViewResult | undefined>(undefined);
  const { plans, lines: described } = useExpressions(spec.expressions);
  const lines = withSettings(described, spec.settings);
  useEffect(
    () =>
      registerPicture(spec.id, {
        svg: () => drawing.current,
        units: () => described.map(({ unit }) => unit),
      }),
    [spec.id, described],
  );
  useView(
    () => ({ kind: 'latest', range: range.value, expressions: plans.value }),
    ({ answer }) => {
      if (answer.kind === 'latest') latest.value = answer;
    },
  );
  useView(
    () => ({
      kind: 'columns',
      range: range.value,
      sources: [],
      columns: COLUMNS,
      expressions: plans.value,
    }),
    (result) => {
      course.value = result;
    },
  );
  const [line] = lines;
  const found = latest.value?.values[0];
  return (
    <section class="panel" data-testid="number" data-panel={spec.id}>
      <div class="number-body">
        {line && (
          <Value
            line={line}
            found={found}
            expression={spec.expressions[0]}
            thresholds={spec.settings?.thresholds}
          />
        )}
        {line && course.value && <Course line={line} result={course.value} drawing={drawing} />}
      </div>
      <ExpressionNames spec={spec} lines={lines} canAdd={false} />
      <ExpressionLines spec={spec} />
      <PanelFooter spec={spec}>
        <PastNote past={latest.value?.past} />
      </PanelFooter>
    </section>
  );
}

function Value(props: {
  line: DescribedLine;
  found: Latest | undefined;
  expression: string;
  thresholds: readonly Threshold[] | undefined;
}) {
  const { line, found, thresholds } = props;
  const raw = found?.value ?? Number.NaN;
  const value = shownValue(raw, line);
  const text = formatFigure(value, line);
  const severity = thresholds ? judgeBy(thresholds, value) : severityOf(props.expression, raw);
  return (
    <>
      <p
        class={`number-value ${severity ? `is-${severity}` : ''}`}
        style={{ '--letters': text.length }}
        data-testid="number-value"
        data-severity={severity}
      >
        {text}
      </p>
      <p class="number-note" data-testid="number-note">
        {noteOf(found)}
      </p>
    </>
  );
}

function shownValue(value: number, { conversion }: DescribedLine): number {
  return conversion ? convert(value, conversion) : value;
}

/** How old the value is, or that there is none. */
function noteOf(found: Latest | undefined): string {
  if (!found) return words.none;
  if (found.gap && !found.gap.isLasting) return wordsOf(found.gap);
  if (Number.isNaN(found.value)) return words.unknown;
  const end = range.value.live ? now.value : range.value.to;
  return words.taken(formatInstant(found.time), formatAge(Math.max(0, end - found.time)));
}

/** How the limits of a metric judge a value; an expression of several parts has no limits. */
function severityOf(expression: string, value: number): string | undefined {
  const syntax = parseKnown(expression);
  if (syntax?.kind !== 'reference') return undefined;
  const { node = '', instance, metric } = syntax.reference;
  const found = metricAt(cellsOf({ node, instance }).status.value?.schema, metric);
  return found && judge(found, value)?.severity;
}

function Course(props: {
  line: DescribedLine;
  result: ViewResult;
  drawing: { readonly current: SVGSVGElement | null };
}) {
  const { result, line } = props;
  if (result.answer.kind !== 'columns' || !result.answer.blocks[0]) return null;
  const { buffer, blocks } = result.answer;
  const columns = new Columns(buffer, blocks[0]);
  const place = (time: number) => ((time - result.from) / (result.to - result.from)) * COLUMNS;
  const { drawn, shown } = extremesOf(columns);
  const scale = new ValueScale(...drawn);
  const height = (value: number) => HEIGHT - scale.share(value) * (HEIGHT - 2) - 1;
  const ends = drawn.map((end) => shownValue(end, line));
  const nameOf = (end: number) =>
    line.decimals === undefined && !line.isUnitFixed
      ? formatWithin(shownValue(end, line), [ends[0], ends[1]], line.unit, line.isCounter)
      : formatFigure(shownValue(end, line), line);
  return (
    <>
      <svg
        class="number-course"
        viewBox={`0 0 ${COLUMNS} ${HEIGHT}`}
        preserveAspectRatio="none"
        ref={props.drawing}
        role="img"
        aria-label={words.course(line.label)}
        data-testid="number-course"
      >
        {blocks[0].gaps.map((gap: GapMark) => (
          <rect
            key={`${gap.from} ${gap.cause}`}
            class="number-gap"
            x={place(gap.from)}
            width={Math.max(0.5, place(gap.to) - place(gap.from))}
            y={0}
            height={HEIGHT}
          >
            <title>{wordsOf(gap)}</title>
          </rect>
        ))}
        <path class="number-line" d={pathOf(columns, place, height)} />
      </svg>
      <p class="number-ends" aria-hidden="true">
        <span>{words.least(nameOf(shown[0]))}</span>
        <span>{words.greatest(nameOf(shown[1]))}</span>
      </p>
    </>
  );
}

/** A line through the extremes of each column, broken at gaps. An infinite value is a stroke at its edge. */
function pathOf(
  columns: Columns,
  place: (time: number) => number,
  height: (value: number) => number,
): string {
  let path = '';
  let isOpen = false;
  for (let column = 0; column < columns.count; column++) {
    const [low, high, marks] = [columns.min(column, 0), columns.max(column, 0), columns.marks(column, 0)];
    const x = place(columns.time(column)).toFixed(2);
    if (marks & Mark.above) path += `M${x} 0v${EDGE_MARK}`;
    if (marks & Mark.below) path += `M${x} ${HEIGHT}v${-EDGE_MARK}`;
    if (!(low <= high)) {
      isOpen = false;
      continue;
    }
    const isJoined = isOpen && !columns.isBroken(column) && (marks & ~Mark.ended) === 0;
    // A column ends where its last value is, so that a slope makes no teeth.
    const isRising = columns.last(column, 0) > (low + high) / 2;
    const [first, second] = isRising ? [low, high] : [high, low];
    path += `${isJoined ? 'L' : 'M'}${x} ${height(first).toFixed(2)}`;
    if (low < high || !isJoined) path += `L${x} ${height(second).toFixed(2)}`;
    isOpen = (marks & Mark.ended) === 0 && Number.isFinite(columns.last(column, 0));
  }
  return path;
}

/** Returns the extremes of the finite values, and those of all values: NaN without any. */
function extremesOf(columns: Columns): Record<'drawn' | 'shown', [number, number]> {
  let [low, high, marks] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  for (let column = 0; column < columns.count; column++) {
    low = Math.min(low, columns.min(column, 0));
    high = Math.max(high, columns.max(column, 0));
    marks |= columns.marks(column, 0);
  }
  return { drawn: [low, high], shown: trueExtremes(low, high, marks) };
}
