import type { ReadonlySignal, Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import type { Reading, TimeChart } from '../../charts/time_chart.ts';
import { causeOf } from '../../components/gap_words.ts';
import { IconButton } from '../../components/icon.tsx';
import { NameText } from '../../components/name_text.tsx';
import type { ValuesAt } from '../../components/use_values.ts';
import { formatFigure, formatQuantity } from '../../format/axis.ts';
import { copyText } from '../../state/copy.ts';
import { readTime } from '../../state/read_time.ts';
import { span } from '../../state/time.ts';
import { strings } from '../../strings/strings.ts';
import type { DescribedLine } from '../shared/lines.ts';
import type { LineChoice } from './line_choice.ts';
import { readingOf } from './reading_words.ts';

const words = strings.legend;
const NOTHING: Reading = { value: Number.NaN };

/** The lines of a chart and their values: under the pointer, or the newest. A click shows or hides, with Alt one alone. */
export function Legend(props: {
  lines: readonly DescribedLine[];
  chart: RefObject<TimeChart | undefined>;
  drawn: Signal<number>;
  choice: LineChoice;
  isStacked: boolean;
  /** The samples at the time that is read. */
  values: ReadonlySignal<ValuesAt | undefined>;
  onToggle: () => void;
  /** Opens an expression; without a number, a new one. Absent where there can be none. */
  onEdit?: ((expression: number | undefined) => void) | undefined;
}) {
  const { lines, chart, drawn, choice, isStacked, values, onEdit } = props;
  // The values of one moment, until those of the next one are known.
  const exact = values.value;
  const time = exact?.time ?? readTime.value;
  void drawn.value;
  const shown = span.value;
  return (
    <ul class="legend" data-testid="legend">
      {lines.map((line, index) => {
        const reading = chart.current?.readingAt(index, time, readTime.value !== undefined) ?? NOTHING;
        const { value, tip } = isStacked
          ? { value: reading.value, tip: reading.gap ? causeOf(reading.gap) : '' }
          : readingOf(line, reading, exact?.values[index], shown);
        const text = isStacked ? formatQuantity(value, '%', false) : formatFigure(value, line);
        const isShown = choice.isShown(index);
        return (
          <li key={`${index} ${line.label}`} class="legend-item">
            <button
              type="button"
              class={isShown ? 'legend-line' : 'legend-line is-hidden'}
              aria-pressed={isShown}
              title={[line.label, tip, words.tip(line.doc)].filter(Boolean).join('\n')}
              data-testid="legend-line"
              data-metric={line.metric}
              onClick={(event) => {
                if (event.altKey) choice.only(index, lines.length);
                else choice.toggle(index);
                props.onToggle();
              }}
              onContextMenu={(event) => {
                event.preventDefault();
                void copyText(String(value));
              }}
            >
              <span class={`legend-mark series-${line.color}`} aria-hidden="true" />
              <span class="legend-name">
                <NameText name={line.label} />
              </span>
              <span class="legend-value" data-testid="legend-value">
                {isShown || !isStacked ? text : '\u2013'}
              </span>
            </button>
            {line.expression !== undefined && onEdit && (
              <IconButton
                icon="pencil"
                label={strings.expressions.change(line.label)}
                testId="expression-change"
                onClick={() => onEdit(line.expression)}
              />
            )}
          </li>
        );
      })}
      {onEdit && (
        <li>
          <IconButton
            icon="formula"
            label={strings.expressions.add}
            testId="expression-add"
            onClick={() => onEdit(undefined)}
          />
        </li>
      )}
    </ul>
  );
}
