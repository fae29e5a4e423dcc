import type { Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import type { TimeChart } from '../charts/time_chart.ts';
import { cursorTime } from '../state/time.ts';
import { wordsOf } from './gap_words.ts';

/** Shows the cause of the gap under the pointer. */
export function GapNote(props: { chart: RefObject<TimeChart | undefined>; drawn: Signal<number> }) {
  void props.drawn.value;
  const time = cursorTime.value;
  const gap = time === undefined ? undefined : props.chart.current?.gapAt(time);
  if (!gap) return null;
  return (
    <p class="gap-note" role="status" data-testid="gap-note" data-cause={gap.cause}>
      {wordsOf(gap)}
    </p>
  );
}
