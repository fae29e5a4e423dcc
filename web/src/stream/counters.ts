import { isStruct, isVector, type Metric, type MetricType, type Value } from '@oasis/wire';

/** Per-second rates in the shape of their values; undefined without a rate. */
export type PerSecond = number | undefined | readonly PerSecond[];

/** Rates over a shorter time would flicker. */
const SPAN_MS = 950;

/** Values of counters at a time, milliseconds by the node's clock. */
export interface CounterValues {
  readonly time: number;
  readonly values: readonly (Value | undefined)[];
}

/** Returns the rates of counters from one sample to a later one. */
export function ratesBetween(
  metrics: readonly Metric[],
  before: CounterValues,
  now: CounterValues,
): PerSecond[] {
  const seconds = (now.time - before.time) / 1000;
  return metrics.map((metric, index) => perSecond(metric, now.values[index], before.values[index], seconds));
}

/** Rates of counters over one second or from sample to sample, whichever is longer. */
export class CounterRates {
  private reference: CounterValues | undefined;
  private rates: readonly PerSecond[] = [];

  constructor(private readonly metrics: readonly Metric[]) {}

  add(time: number, values: CounterValues['values']): readonly PerSecond[] {
    const before = this.reference;
    if (before && time > before.time && time - before.time < SPAN_MS) return this.rates;
    if (before && time > before.time) {
      this.rates = ratesBetween(this.metrics, before, { time, values });
    } else {
      this.rates = [];
    }
    this.reference = { time, values };
    return this.rates;
  }

  reset(): void {
    this.reference = undefined;
    this.rates = [];
  }
}

function perSecond(
  metric: Metric,
  now: Value | undefined,
  before: Value | undefined,
  seconds: number,
): PerSecond {
  if (now === undefined || before === undefined) return undefined;
  if (typeof metric.type === 'object') return perSecondOf(metric.type, now, before, seconds);
  if (metric.kind !== 'counter') return undefined;
  const step = difference(now, before);
  // A counter that decreases has restarted; its next step is valid again.
  return step === undefined || step < 0 ? undefined : step / seconds;
}

function perSecondOf(type: MetricType, now: Value, before: Value, seconds: number): PerSecond {
  if (!Array.isArray(now) || !Array.isArray(before)) return undefined;
  if (isVector(type))
    return now.map((value, index) => perSecondOf(type.vector, value, before[index], seconds));
  if (!isStruct(type)) return undefined;
  const { members } = type.struct;
  // Texts identify a struct within a list: another name at the same index is another counter.
  const isSame = members.every((member, index) => member.type !== 'string' || now[index] === before[index]);
  return isSame
    ? members.map((member, index) => perSecond(member, now[index], before[index], seconds))
    : undefined;
}

function difference(now: Value, before: Value): number | undefined {
  if (typeof now === 'bigint' || typeof before === 'bigint') {
    if (!isNumeric(now) || !isNumeric(before)) return undefined;
    return Number(BigInt(now) - BigInt(before));
  }
  return typeof now === 'number' && typeof before === 'number' ? now - before : undefined;
}

function isNumeric(value: Value): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
}
