import type { Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import type { TimeChart } from '../charts/time_chart.ts';
import { formatInteger } from '../format/number.ts';
import { formatAge } from '../format/time.ts';
import { cursorTime } from '../state/time.ts';
import { strings } from '../strings/strings.ts';
import { causeOf } from './gap_words.ts';

/** Shows the causes of the gap under the pointer, each with its count. */
export function GapNote(props: { chart: RefObject<TimeChart | undefined>; drawn: Signal<number> }) {
  void props.drawn.value;
  const time = cursorTime.value;
  const gaps = (time === undefined ? undefined : props.chart.current?.gapsAt(time)) ?? [];
  const [gap] = gaps;
  if (!gap) return null;
  const causes = gaps.map(({ cause }) => cause).join(' ');
  return (
    <p class="gap-note" role="status" data-testid="gap-note" data-cause={causes}>
      {strings.gaps.note(
        formatAge(gap.to - gap.from),
        ...gaps.flatMap((gap) => [
          gap.count > 0 ? strings.gaps.amount(gap.cause, formatInteger(gap.count), gap.count === 1) : '',
          causeOf(gap),
        ]),
      )}
    </p>
  );
}
