import type { Reading } from '../../charts/time_chart.ts';
import { causeOf } from '../../components/gap_words.ts';
import { convert } from '../../expressions/convert.ts';
import { formatFigure } from '../../format/axis.ts';
import { formatReal } from '../../format/number.ts';
import { formatCursor } from '../../format/time.ts';
import { formatUnit } from '../../format/unit.ts';
import type { ValueAt } from '../../stream/query.ts';
import { strings } from '../../strings/strings.ts';
import type { DescribedLine } from '../shared/lines.ts';

const words = strings.legend;

/** What the legend says of a line at a time. */
export interface LineReading {
  /** NaN in a gap and before the first sample. */
  readonly value: number;
  /** What the value is, or why there is none. */
  readonly tip: string;
}

/** The rule of all panels: the last sample at or before a time, and none in a gap. Rates are of the columns of a chart. */
export function readingOf(
  line: DescribedLine,
  drawn: Reading,
  sample: ValueAt | undefined,
  span: number,
): LineReading {
  const { gap, column } = drawn;
  if (gap) return { value: Number.NaN, tip: causeOf(gap) };
  const { conversion } = line;
  if (sample && !line.isCounter && !Number.isNaN(sample.value)) {
    const value = conversion ? convert(sample.value, conversion) : sample.value;
    return { value, tip: words.sample(exactly(value, line), formatCursor(sample.time, span)) };
  }
  const { value } = drawn;
  if (!column || Number.isNaN(value)) return { value: Number.NaN, tip: words.nothing };
  const time = formatCursor(column.to, span);
  if (line.isCounter) return { value, tip: words.rate(formatFigure(value, line), time) };
  const { low, high } = column;
  if (low === high) return { value, tip: words.sample(exactly(value, line), time) };
  const range = words.between(formatFigure(low, line), formatFigure(high, line));
  return { value, tip: `${words.last(exactly(value, line), time)}\n${range}` };
}

/** With the digits of the table of values. */
function exactly(value: number, { unit }: DescribedLine): string {
  const text = Number.isInteger(value) ? String(value) : formatReal(value);
  return [text, formatUnit(unit)].filter(Boolean).join(' ');
}
