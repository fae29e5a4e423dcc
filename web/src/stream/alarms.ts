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
  /** Whether the value was beyond its limits in the oldest sample that the page has: `since` is not the beginning. */
  readonly isOlder: boolean;
}

const RANK = { warn: 1, alarm: 2 } as const;
/** A value that leaves its limits again within this time continues its alarm, instead of a new one. */
const SAME_MS = 2000;
/** The past has been read if samples are as new as this, or if none arrives for so long. */
const CATCH_UP_MS = 1000;
let lastId = 0;

/** Checks every value of the metrics with limits, also those between two frames. */
export class AlarmWatch {
  private readonly limited: readonly number[];
  /** The newest alarm of each metric. */
  private readonly known = new Map<number, AlarmView>();
  private changed: AlarmView[] = [];
  /** When this page began to watch; browser clock. */
  private begun: number | undefined;
  /** When the newest batch arrived. */
  private arrived = 0;
  private isCaughtUp = false;
  private isFirst = true;

  constructor(
    private readonly key: string,
    private readonly schema: Schema,
  ) {
    this.limited = schema.metrics.flatMap(({ type, min, max, warn, alarm }, index) => {
      const hasLimits = [min, max, warn, alarm].some((limit) => limit !== undefined);
      return typeof type === 'string' && type !== 'string' && hasLimits ? [index] : [];
    });
  }

  /** Checks a batch that arrives `now`; `times` plus `lag` are by the browser's clock. */
  add(batch: Batch, times: Float64Array, lag: number, now: number): void {
    this.begun ??= now;
    this.arrived = now;
    this.isCaughtUp ||= times[times.length - 1] + lag >= this.begun - CATCH_UP_MS;
    for (const index of this.limited) {
      const column = batch.metrics[index] as ArrayLike<number | bigint>;
      for (let sample = 0; sample < column.length; sample++) {
        // A value that a sample lacks has no severity; an unchanged value has an unchanged one.
        if (column[sample] === undefined) continue;
        if (sample > 0 && column[sample] === column[sample - 1]) continue;
        this.judge(index, column[sample], times[sample] + lag, this.isFirst && sample === 0);
      }
    }
    this.isFirst = false;
  }

  /**
   * Returns new and changed alarms. The page begins with samples from before it was opened: what went beyond its limits and
   * back in that time is no news. So alarms wait until these samples have been read.
   */
  drain(now: number): AlarmView[] {
    const begun = this.begun ?? now;
    if (this.changed.length === 0) return [];
    if (!this.isCaughtUp && now - this.arrived < CATCH_UP_MS) return [];
    this.isCaughtUp = true;
    // Clocks are known to some milliseconds only: what ended just now is news.
    const changed = this.changed.filter(({ until }) => until === undefined || until >= begun - CATCH_UP_MS);
    this.changed = [];
    return changed.map((alarm) => ({ ...alarm }));
  }

  private judge(index: number, value: number | bigint, time: number, isOldest: boolean): void {
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
      isOlder: isOldest,
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
