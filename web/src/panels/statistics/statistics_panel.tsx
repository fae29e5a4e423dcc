import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { causesOf, GapSummary } from '../../components/gap_summary.tsx';
import { PastNote } from '../../components/past_note.tsx';
import { useView } from '../../components/use_view.ts';
import { formatQuantity } from '../../format/axis.ts';
import { formatInteger, formatRough } from '../../format/number.ts';
import { formatWithin } from '../../format/tick_labels.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { ends, range } from '../../state/time.ts';
import type { AnswerOf, StatisticsRow } from '../../stream/query.ts';
import { computedPanelStrings, infiniteWords } from '../../strings/computed_panels.ts';
import { strings } from '../../strings/strings.ts';
import { registerPicture } from '../shared/exports.ts';
import { ExpressionLines } from '../shared/expression_lines.tsx';
import { ExpressionNames } from '../shared/expression_names.tsx';
import { MAX_EXPRESSIONS } from '../shared/expressions.ts';
import type { DescribedLine } from '../shared/lines.ts';
import { PanelFooter } from '../shared/panel_footer.tsx';
import { useExpressions } from '../shared/use_expressions.ts';

type Spec = SpecOf<'statistics'>;

const words = computedPanelStrings.statistics;

/** Figures of the time shown, which somebody has drawn on a chart or chosen in the bar. */
export function StatisticsPanel({ spec }: { spec: Spec }) {
  const answer = useSignal<AnswerOf<'statistics'> | undefined>(undefined);
  const { plans, lines } = useExpressions(spec.expressions);
  useEffect(
    () => registerPicture(spec.id, { table: () => exported(lines, answer.peek()?.rows ?? []) }),
    [spec.id, lines, answer],
  );
  useView(
    () => ({ kind: 'statistics', range: range.value, expressions: plans.value }),
    (result) => {
      if (result.answer.kind === 'statistics') answer.value = result.answer;
    },
  );
  const rows = answer.value?.rows ?? [];
  return (
    <section class="panel" data-testid="statistics" data-panel={spec.id}>
      <div class="statistics-body">
        <table class="statistics" aria-label={words.title}>
          <thead>
            <tr>
              {[words.name, ...words.figures].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lines.map((line, index) => (
              <Row key={line.metric} line={line} row={rows[index]} />
            ))}
          </tbody>
        </table>
        {rows.map(
          ({ infinite }, index) =>
            infinite > 0 && (
              <p key={lines[index]?.metric} class="panel-note" data-testid="statistics-infinite">
                {infiniteWords(infinite, lines[index]?.label)}
              </p>
            ),
        )}
        <p class="hint">{words.hint}</p>
      </div>
      <GapSummary gaps={rows.flatMap(({ gaps }) => gaps)} />
      <ExpressionNames spec={spec} lines={lines} canAdd={lines.length < MAX_EXPRESSIONS} />
      <ExpressionLines spec={spec} />
      <PanelFooter spec={spec}>
        <PastNote past={answer.value?.past} />
      </PanelFooter>
    </section>
  );
}

function Row({ line, row }: { line: DescribedLine; row: StatisticsRow | undefined }) {
  return (
    <tr data-testid="statistics-row" data-expression={line.metric}>
      <th scope="row" title={line.doc}>
        <bdi>{line.label}</bdi>
      </th>
      {cellsOf(row, line.unit).map((text, index) => (
        <td key={words.figures[index]} data-label={words.figures[index]} title={tipOf(index, row)}>
          {text}
        </td>
      ))}
    </tr>
  );
}

/** In the order of `words.figures`. */
function cellsOf(row: StatisticsRow | undefined, unit: string | undefined): string[] {
  if (!row) return words.figures.map(() => strings.connection.unknown);
  const { count, mean, deviation, min, max, percentiles } = row;
  const show = (value: number) => formatWithin(value, [min, max], unit);
  return [
    formatInteger(count),
    rateOf(row) === undefined ? strings.connection.unknown : `${formatRough(rateOf(row) ?? 0)}/s`,
    show(mean),
    formatQuantity(deviation, unit, false),
    show(min),
    ...percentiles.map(show),
    show(max),
    formatInteger(missingOf(row)),
  ];
}

/** Causes of what is missing, for the last column. */
function tipOf(column: number, row: StatisticsRow | undefined): string | undefined {
  if (column !== words.figures.length - 1 || !row) return undefined;
  return causesOf(row.gaps)
    .map(({ cause, missing }) => `${formatInteger(missing)}: ${strings.gaps.describe(cause, missing)}`)
    .join('\n');
}

function rateOf({ count, seconds }: StatisticsRow): number | undefined {
  return count > 1 && seconds > 0 ? (count - 1) / seconds : undefined;
}

function missingOf({ gaps }: StatisticsRow): number {
  return gaps.reduce((sum, { count }) => sum + count, 0);
}

function exported(lines: readonly DescribedLine[], rows: readonly StatisticsRow[]): string[][] {
  const [from, to] = ends();
  const number = (value: number | undefined) =>
    value !== undefined && !Number.isNaN(value) ? String(value) : '';
  return [
    [words.name, words.unit, words.from, words.to, ...words.figures],
    ...lines.map(({ label, unit }, index) => {
      const row = rows[index];
      const figures = row
        ? [
            row.count,
            rateOf(row),
            row.mean,
            row.deviation,
            row.min,
            ...row.percentiles,
            row.max,
            missingOf(row),
          ]
        : [];
      return [
        label,
        unit ?? '1',
        new Date(from).toISOString(),
        new Date(to).toISOString(),
        ...figures.map(number),
      ];
    }),
  ];
}
