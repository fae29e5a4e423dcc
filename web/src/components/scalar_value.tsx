import { type EnumType, enumeratorOf, type Metric, type MetricType, type Value } from '@oasis/wire';
import { formatRough, formatScalar } from '../format/number.ts';
import { scaledBytes } from '../format/unit.ts';
import type { PerSecond } from '../stream/counters.ts';
import { strings } from '../strings.ts';

interface Props {
  readonly type: MetricType;
  readonly value: Value;
  readonly names: EnumType | undefined;
}

/** A number of an enum by its name; one that the enum does not know as the number. */
export function ScalarValue({ type, value, names }: Props) {
  const enumerator = enumeratorOf(names, value);
  if (enumerator) return <span title={enumerator.doc ?? String(value)}>{enumerator.name}</span>;
  if (typeof value === 'boolean')
    return <span class={value ? 'truth is-true' : 'truth'}>{String(value)}</span>;
  if (typeof value === 'string') return <span title={value}>{value}</span>;
  return <>{formatScalar(value, type)}</>;
}

/** Beside a counter how fast it counts, beside many bytes how many that is. */
export function RateNote({
  metric,
  value,
  rate,
}: {
  metric: Metric;
  value: Value | undefined;
  rate: PerSecond;
}) {
  if (typeof rate === 'number') return <>{strings.card.rateCell(formatRough(rate))}</>;
  if (typeof value !== 'number' && typeof value !== 'bigint') return null;
  const scaled = metric.kind === 'counter' ? undefined : scaledBytes(value, metric.unit);
  return scaled === undefined ? null : <span class="about">{strings.card.about(scaled)}</span>;
}
