import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import type { Plan } from '../expressions/plan.ts';
import { readTime } from '../state/read_time.ts';
import { range } from '../state/time.ts';
import type { Source, ValueAt } from '../stream/query.ts';
import { useView } from './use_view.ts';

/** The samples of a chart's lines at a time; undefined where only its columns have a value. */
export interface ValuesAt {
  readonly time: number;
  readonly values: readonly (ValueAt | undefined)[];
}

/** Reads the last sample of each line at the time under the pointer, or at the end of a paused range. */
export function useValues(
  sources: readonly Source[],
  plans: ReadonlySignal<readonly Plan[]>,
): ReadonlySignal<ValuesAt | undefined> {
  const found = useSignal<ValuesAt | undefined>(undefined);
  const time = useComputed(() => readTime.value ?? (range.value.live ? undefined : range.value.to));
  useView(
    () => {
      const at = time.value;
      if (at === undefined) return undefined;
      const expressions = plans.value;
      return { kind: 'values', range: { live: false, from: at - 1, to: at }, sources, expressions };
    },
    ({ to, answer }) => {
      if (answer.kind === 'values') found.value = { time: to, values: answer.values };
    },
  );
  // The samples of a moment stay until those of the next one are known.
  useSignalEffect(() => {
    if (time.value === undefined) found.value = undefined;
  });
  return found;
}
