import { type ReadonlySignal, type Signal, useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { alarmBook } from '../../alarms/book.ts';
import type { RuleLimit } from '../../alarms/spans.ts';
import type { Limit } from '../../charts/draw_marks.ts';
import { useSameValue } from '../../components/use_same.ts';
import { useVisible } from '../../components/visible.ts';
import type { FollowedAlarms, InstanceAlarms } from '../../state/alarm_spans.ts';
import { type PanelSpec, targetsOf } from '../../state/panel_kinds.ts';
import { keyOf } from '../../wire/target.ts';

/** The alarms of all instances of a panel in the time shown, while it is visible. */
export function useInstanceAlarms(spec: PanelSpec): ReadonlySignal<InstanceAlarms> {
  const all = useSignal<InstanceAlarms>(NO_ALARMS);
  const isVisible = useVisible().value;
  const wanted = useSameValue(
    [...new Map(targetsOf(spec).map((target) => [keyOf(target), target])).values()].map(
      ({ node, instance }) => ({ node, instance }),
    ),
  );
  const hasAny = useComputed(() => alarmBook.value.size > 0).value;
  useEffect(() => {
    // A DAC without alarms costs charts nothing.
    if (!isVisible || !hasAny) return;
    let stop = () => {};
    let isStopped = false;
    const targets = wanted;
    import('../../state/alarm_spans.ts').then(
      ({ followInstanceAlarms }) => {
        if (!isStopped) stop = follow(targets.map(followInstanceAlarms), all);
      },
      // The charts are drawn without them.
      () => {},
    );
    return () => {
      isStopped = true;
      stop();
    };
  }, [wanted, isVisible, hasAny, all]);
  return all;
}

const NO_ALARMS: InstanceAlarms = { spans: [], limits: [] };

/** Gathers the alarms of several instances. */
function follow(followed: readonly FollowedAlarms[], all: Signal<InstanceAlarms>): () => void {
  const gather = () => {
    const found = followed.map(({ shown }) => shown.peek());
    const spans = found.flatMap(({ spans }) => spans);
    const limits = found.flatMap(({ limits }) => limits);
    if (spans.length + limits.length > 0 || all.peek() !== NO_ALARMS) all.value = { spans, limits };
  };
  const stops = followed.map(({ shown }) => shown.subscribe(gather));
  return () => {
    for (const stop of stops) stop();
    for (const { stop } of followed) stop();
  };
}

/**
 * The limits that belong on a chart of these metrics, and that it does not draw already because its metrics declare them. A rule
 * of a file can be about any metric.
 */
export function besides(
  limits: readonly RuleLimit[],
  drawn: readonly Limit[],
  metrics: readonly string[],
): RuleLimit[] {
  return limits.filter(
    ({ metric, value }) =>
      (metric === undefined || metrics.includes(metric)) && !drawn.some((limit) => limit.value === value),
  );
}
