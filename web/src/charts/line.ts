import { Columns } from '../series/columns.ts';
import { counterRates } from '../series/rates.ts';
import type { GapMark, ViewResult } from '../stream/query.ts';

/** What a line is, apart from its numbers. */
export interface LineStyle {
  readonly label: string;
  readonly unit: string | undefined;
  /** Shown as how fast it counts. */
  readonly isCounter: boolean;
  /** A value holds until the next one: of probes that tell of changes. */
  readonly isStep: boolean;
  readonly color: number;
}

/** One line as it is drawn: for each column of pixels a least, a greatest and a last value. */
export interface Line {
  readonly columns: Columns;
  readonly gaps: readonly GapMark[];
  low(column: number): number;
  high(column: number): number;
  last(column: number): number;
}

/** The lines of an answer, source by source, metric by metric. */
export function linesOf(result: ViewResult, styles: readonly LineStyle[]): Line[] {
  if (result.answer.kind !== 'columns') return [];
  const { buffer, blocks } = result.answer;
  const span = result.to - result.from;
  const lines: Line[] = [];
  for (const block of blocks) {
    const columns = new Columns(buffer, block);
    for (let series = 0; series < block.series; series++) {
      const style = styles[lines.length];
      // Elements that have just come have no style yet: the chart that has them is about to be made.
      if (!style) return lines;
      lines.push(
        style.isCounter ? counting(columns, series, span, block.gaps) : measured(columns, series, block.gaps),
      );
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

function counting(columns: Columns, series: number, span: number, gaps: readonly GapMark[]): Line {
  const rates = counterRates(columns, series, span);
  const rate = (column: number) => rates[column];
  return { columns, gaps, low: rate, high: rate, last: rate };
}

/** Lines of one source as shares of their sum, in percent, each on top of the one before. */
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
