import { type Conversion, convert } from '../expressions/convert.ts';
import type { FigureLook } from '../format/axis.ts';
import { Columns } from '../series/columns.ts';
import { counterRates } from '../series/rates.ts';
import type { GapMark, ViewResult } from '../stream/query.ts';

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

/** One drawn line: minimum, maximum and last value of each column of pixels. */
export interface Line {
  readonly columns: Columns;
  readonly gaps: readonly GapMark[];
  low(column: number): number;
  high(column: number): number;
  last(column: number): number;
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
  };
}

/** Sizes of units are positive, so that a minimum stays one. */
function converted({ columns, gaps, low, high, last }: Line, by: Conversion): Line {
  return {
    columns,
    gaps,
    low: (column) => convert(low(column), by),
    high: (column) => convert(high(column), by),
    last: (column) => convert(last(column), by),
  };
}

function counting(columns: Columns, series: number, span: number, gaps: readonly GapMark[]): Line {
  const rates = counterRates(columns, series, span);
  const rate = (column: number) => rates[column];
  return { columns, gaps, low: rate, high: rate, last: rate };
}

/** Stacks the lines of one source as percentages of their sum. */
export function stacked(lines: readonly Line[], isShown: (index: number) => boolean): Line[] {
  const first = lines[0];
  if (!first) return [];
  const count = first.columns.count;
  const sums = new Float64Array(count);
  lines.forEach((line, index) => {
    if (isShown(index)) for (let column = 0; column < count; column++) sums[column] += line.last(column);
  });
  const below = new Float64Array(count);
  return lines.map((line, index) => {
    const bottom = below.slice();
    const top = below.slice();
    if (isShown(index)) {
      for (let column = 0; column < count; column++) {
        top[column] += sums[column] > 0 ? (100 * line.last(column)) / sums[column] : Number.NaN;
      }
      below.set(top);
    }
    return {
      columns: line.columns,
      gaps: line.gaps,
      low: (column: number) => bottom[column],
      high: (column: number) => top[column],
      last: (column: number) => top[column] - bottom[column],
    };
  });
}
