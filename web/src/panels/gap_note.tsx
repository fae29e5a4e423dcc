import type { Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import type { TimeChart } from '../charts/time_chart.ts';
import { formatInteger } from '../format/number.ts';
import { formatAge } from '../format/time.ts';
import { cursorTime } from '../state/time.ts';
import { strings } from '../strings.ts';

/** Shows the cause of the gap under the pointer. */
export function GapNote(props: { chart: RefObject<TimeChart | undefined>; drawn: Signal<number> }) {
  void props.drawn.value;
  const time = cursorTime.value;
  const gap = time === undefined ? undefined : props.chart.current?.gapAt(time);
  if (!gap) return null;
  return (
    <p class="gap-note" role="status" data-testid="gap-note" data-cause={gap.cause}>
      {strings.gaps.note(
        formatAge(gap.to - gap.from),
        gap.count > 0 ? strings.gaps.missing(formatInteger(gap.count), gap.count === 1) : '',
        strings.gaps.describe(gap.cause, gap.count),
      )}
    </p>
  );
}
