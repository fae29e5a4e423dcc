import { enumeratorOf, judge, type Meaning, type Metric, type MetricType, type Value } from '@oasis/wire';
import type { ComponentChildren } from 'preact';
import { scaledDuration } from '../format/axis.ts';
import { fitNumber } from '../format/fit.ts';
import { formatRough, formatScalar } from '../format/number.ts';
import { scaledBytes } from '../format/unit.ts';
import type { PerSecond } from '../stream/counters.ts';
import { strings } from '../strings/strings.ts';

interface Props {
  readonly type: MetricType;
  readonly value: Value;
  readonly meaning: Meaning;
  /** Most digits. */
  readonly room?: number;
}

/** Width of the sign of a warning, in digits. */
const SIGN = 2;
/** Width of the sign before a rounded value, and of what is narrower in one than a digit, in letters. */
const ABOUT = 2;
const NARROW = 1.5;
/** Width of ` /s`, in letters. */
const PER_SECOND = 3;

/** A value, highlighted on a warning or an alarm. */
export function ScalarValue(props: Props) {
  const judgement = judge(props.meaning, props.value);
  if (!judgement) return <PlainValue {...props} />;
  const { severity, because } = judgement;
  return (
    <Worth severity={severity} tip={strings.card.worth[severity](because)}>
      <PlainValue {...props} room={props.room && props.room - SIGN} />
    </Worth>
  );
}

function Worth(props: { severity: string; tip: string; children: ComponentChildren }) {
  return (
    <span class={`worth is-${props.severity}`} title={props.tip} data-severity={props.severity}>
      <span class="worth-sign" role="img" aria-label={props.tip}>
        {strings.card.worthSign}
      </span>
      {props.children}
    </span>
  );
}

/** The name of an enumerator; an unknown one as its number. */
function PlainValue({ type, value, meaning, room }: Props) {
  const enumerator = enumeratorOf(meaning.enum, value);
  if (enumerator) return <span title={enumerator.doc ?? String(value)}>{enumerator.name}</span>;
  if (typeof value === 'boolean')
    return <span class={value ? 'truth is-true' : 'truth'}>{String(value)}</span>;
  if (typeof value === 'string') return <span title={value}>{value}</span>;
  const full = formatScalar(value, type);
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  return <>{room !== undefined && isNumber ? fitNumber(value, full, room) : full}</>;
}

/** A note beside the value: the rate of a counter, or a large number of bytes in a larger unit. */
export function RateNote({
  metric,
  value,
  rate,
  room = Number.POSITIVE_INFINITY,
}: {
  metric: Metric;
  value: Value | undefined;
  rate: PerSecond;
  room?: number;
}) {
  if (typeof rate === 'number') {
    const full = formatRough(rate);
    return <span title={full}>{strings.card.rateCell(fitNumber(rate, full, room - PER_SECOND))}</span>;
  }
  if (typeof value !== 'number' && typeof value !== 'bigint') return null;
  const isCounter = metric.kind === 'counter';
  const scaled = isCounter
    ? undefined
    : (scaledBytes(value, metric.unit) ?? scaledDuration(value, metric.unit));
  return scaled === undefined || scaled.length - NARROW > room ? null : (
    <span class="about" title={scaled}>
      {scaled.length + ABOUT <= room ? strings.card.about(scaled) : scaled}
    </span>
  );
}
