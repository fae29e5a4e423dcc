import { type Batch, judge, type Schema } from '@oasis/wire';

/** A value beyond its limits, now or earlier. */
export interface AlarmView {
  readonly id: number;
  readonly key: string;
  readonly metric: string;
  readonly label: string;
  readonly unit: string | undefined;
  severity: 'warn' | 'alarm';
  because: string;
  /** The worst value so far. */
  value: number;
  /** Browser clock, milliseconds. */
  readonly since: number;
  /** When the value returned within its limits. */
  until: number | undefined;
}

const RANK = { warn: 1, alarm: 2 } as const;
/** A value that leaves its limits again within this time continues its alarm, instead of a new one. */
const SAME_MS = 2000;
let lastId = 0;

/** Checks every value of the metrics with limits, also those between two frames. */
export class AlarmWatch {
  private readonly limited: readonly number[];
  /** The newest alarm of each metric. */
  private readonly known = new Map<number, AlarmView>();
  private changed: AlarmView[] = [];

  constructor(
    private readonly key: string,
    private readonly schema: Schema,
  ) {
    this.limited = schema.metrics.flatMap(({ type, min, max, warn, alarm }, index) => {
      const hasLimits = [min, max, warn, alarm].some((limit) => limit !== undefined);
      return typeof type === 'string' && type !== 'string' && hasLimits ? [index] : [];
    });
  }

  /** Checks a batch; `times` plus `lag` are by the browser's clock. */
  add(batch: Batch, times: Float64Array, lag: number): void {
    for (const index of this.limited) {
      const column = batch.metrics[index] as ArrayLike<number | bigint>;
      for (let sample = 0; sample < column.length; sample++) {
        // An unchanged value has an unchanged severity.
        if (sample > 0 && column[sample] === column[sample - 1]) continue;
        this.judge(index, column[sample], times[sample] + lag);
      }
    }
  }

  drain(): AlarmView[] {
    const changed = this.changed.map((alarm) => ({ ...alarm }));
    this.changed = [];
    return changed;
  }

  private judge(index: number, value: number | bigint, time: number): void {
    const metric = this.schema.metrics[index];
    const judgement = judge(metric, value);
    const before = this.known.get(index);
    const isActive = before !== undefined && before.until === undefined;
    if (!judgement) {
      if (!isActive) return;
      before.until = time;
      this.note(before);
      return;
    }
    const { severity, because } = judgement;
    if (before && (before.until === undefined || time - before.until < SAME_MS)) {
      const isWorse = RANK[severity] > RANK[before.severity];
      const isFurther = because === before.because && isBeyond(Number(value), before);
      if (isActive && !isWorse && !isFurther) return;
      before.until = metric.kind === 'event' ? time : undefined;
      if (isWorse || isFurther) Object.assign(before, { severity, because, value: Number(value) });
      this.note(before);
      return;
    }
    const raised: AlarmView = {
      id: ++lastId,
      key: this.key,
      metric: metric.name,
      label: metric.label ?? metric.name,
      unit: metric.unit,
      severity,
      because,
      value: Number(value),
      since: time,
      // An event ends when it happens.
      until: metric.kind === 'event' ? time : undefined,
    };
    this.known.set(index, raised);
    this.note(raised);
  }

  private note(alarm: AlarmView): void {
    if (!this.changed.includes(alarm)) this.changed.push(alarm);
  }
}

/** Whether a value is further beyond the limit than the worst one so far. */
function isBeyond(value: number, { because, value: worst }: AlarmView): boolean {
  if (because.startsWith('above ')) return value > worst;
  return because.startsWith('below ') && value < worst;
}
