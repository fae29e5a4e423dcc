import { type Conversion, convert } from '../expressions/convert.ts';
import type { FigureLook } from '../format/axis.ts';
import type { GapMark } from '../series/causes.ts';
import { Columns, Mark, trueExtremes } from '../series/columns.ts';
import { counterRates } from '../series/rates.ts';
import { finite } from '../series/value_scale.ts';
import type { ViewResult } from '../stream/query.ts';

/** Properties of a line apart from its numbers. */
export interface LineStyle extends FigureLook {
  readonly label: string;
  /** Unit of the samples, if it is not the shown one, and how they are converted. */
  readonly nativeUnit?: string | undefined;
  readonly conversion?: Conversion;
  /** Whether the line shows the rate of a counter. */
  readonly isCounter: boolean;
  /** Whether a value stays until the next one, as for probes that report changes. */
  readonly isStep: boolean;
  readonly color: number;
}

/** One drawn line: of each column of pixels the extremes of its finite values, the last value, and its {@link Mark}s. */
export interface Line {
  readonly columns: Columns;
  readonly gaps: readonly GapMark[];
  /** Above the highest if no value is finite. */
  low(column: number): number;
  high(column: number): number;
  /** May be infinite. */
  last(column: number): number;
  marks(column: number): number;
}

/** Returns the extremes of a column with infinite values; both are NaN without any value. */
export function extremesIn(line: Line, column: number): [number, number] {
  return trueExtremes(line.low(column), line.high(column), line.marks(column));
}

/** Whether no line leads from the column before to this one. */
export function isCutBefore({ columns, marks }: Line, column: number): boolean {
  return columns.isBroken(column) || (marks(column) & ~Mark.ended) !== 0;
}

/** Whether no line leads from a column to the next one. */
export function isCutAfter({ last, marks }: Line, column: number): boolean {
  return (marks(column) & Mark.ended) !== 0 || Math.abs(last(column)) === Number.POSITIVE_INFINITY;
}

/** Returns the lines of an answer, source by source, metric by metric. */
export function linesOf(result: ViewResult, styles: readonly LineStyle[]): Line[] {
  if (result.answer.kind !== 'columns') return [];
  const { buffer, blocks } = result.answer;
  const span = result.to - result.from;
  const lines: Line[] = [];
  for (const block of blocks) {
    const columns = new Columns(buffer, block);
    for (let series = 0; series < block.series; series++) {
      const style = styles[lines.length];
      // New elements have no style yet; the chart is about to be rebuilt with them.
      if (!style) return lines;
      const line = style.isCounter
        ? counting(columns, series, span, block.gaps)
        : measured(columns, series, block.gaps);
      lines.push(style.conversion ? converted(line, style.conversion) : line);
    }
  }
  return lines;
}

function measured(columns: Columns, series: number, gaps: readonly GapMark[]): Line {
  return {
    columns,
    gaps,
    low: (column) => columns.min(column, series),
    high: (column) => columns.max(column, series),
    last: (column) => columns.last(column, series),
    marks: (column) => columns.marks(column, series),
  };
}

/** Sizes of units are positive, so that a minimum stays one. */
function converted({ columns, gaps, low, high, last, marks }: Line, by: Conversion): Line {
  // A finite value stays finite, even if the other unit is too small for it.
  const inUnit = (value: number) => {
    const found = convert(value, by);
    return Number.isFinite(value) ? finite(found) : found;
  };
  return {
    columns,
    gaps,
    low: (column) => inUnit(low(column)),
    high: (column) => inUnit(high(column)),
    last: (column) => inUnit(last(column)),
    marks,
  };
}

function counting(columns: Columns, series: number, span: number, gaps: readonly GapMark[]): Line {
  const rates = counterRates(columns, series, span);
  const rate = (column: number) => rates[column];
  // A counter that was infinite or NaN has no rate.
  return { columns, gaps, low: rate, high: rate, last: rate, marks: () => 0 };
}

/** Stacks the lines of one source as percentages of their sum. */
export function stacked(lines: readonly Line[], isShown: (index: number) => boolean): Line[] {
  const first = lines[0];
  if (!first) return [];
  const count = first.columns.count;
  const shown = lines.filter((_, index) => isShown(index));
  // In parts of the largest value, because a sum of large numbers may be infinite.
  const largest = new Float64Array(count);
  const sums = new Float64Array(count);
  for (const { last } of shown)
    for (let column = 0; column < count; column++) largest[column] = Math.max(largest[column], last(column));
  for (const { last } of shown)
    for (let column = 0; column < count; column++) sums[column] += last(column) / largest[column];
  const below = new Float64Array(count);
  return lines.map((line, index) => {
    const bottom = below.slice();
    const top = below.slice();
    if (isShown(index)) {
      for (let column = 0; column < count; column++) {
        const part = line.last(column) / largest[column];
        top[column] += sums[column] > 0 ? (100 * part) / sums[column] : Number.NaN;
      }
      below.set(top);
    }
    return {
      columns: line.columns,
      gaps: line.gaps,
      low: (column: number) => bottom[column],
      high: (column: number) => top[column],
      last: (column: number) => top[column] - bottom[column],
      marks: () => 0,
    };
  });
}
