import { type Alarm, isInhibited, type Severity } from './alarm.ts';
import type { Entry } from './journal.ts';

/** A time when an alarm was active, or when nobody knew whether it was. Milliseconds. */
export interface AlarmSpan {
  readonly rule: string;
  readonly from: number;
  /** Infinite if it goes on. */
  readonly to: number;
  readonly severity: Severity;
  readonly isActive: boolean;
  /** Whether the condition was known; without, the span is hatched. */
  readonly isKnown: boolean;
  /** Whether an operator has put the alarm aside now. */
  readonly isAside?: boolean;
}

/** The constant limit of a rule, on the axis of its unit. */
export interface RuleLimit {
  readonly value: number;
  readonly unit: string | undefined;
  readonly severity: Severity;
  readonly rule: string;
  /** The metric that it limits; undefined if that is not known. */
  readonly metric?: string | undefined;
}

/** What is known of an alarm from a moment on. */
type Step = Omit<AlarmSpan, 'rule' | 'to' | 'isAside'>;

/**
 * Returns the spans of an instance until `to`, from its journal (newest first) and from its alarms of now. An alarm that was
 * active before the oldest entry is so from the time of {@link Alarm.raised} on.
 */
export function spansOf(entries: readonly Entry[], alarms: readonly Alarm[], to: number): AlarmSpan[] {
  const steps = new Map<string, Step[]>();
  // The DAC that an alarm has left says so after the other one has taken it over: the alarm continues.
  const takenOver = new Set<string>();
  for (const entry of [...entries].reverse()) {
    if (entry.kind === 'taken_over') takenOver.add(entry.rule);
    if (entry.kind === 'moved' && takenOver.delete(entry.rule)) continue;
    const known = steps.get(entry.rule) ?? [];
    steps.set(entry.rule, known);
    known.push(after(entry, known.at(-1)));
  }
  for (const alarm of alarms) {
    const { rule, raised, severity, isKnown } = alarm;
    if (alarm.state !== 'active' || raised === undefined) continue;
    const known = steps.get(rule) ?? [];
    steps.set(rule, known);
    // Its entry is older than those that were read, or it has been raised since they were.
    const step = { from: raised, severity, isActive: true, isKnown };
    if (known.length === 0 || raised < known[0].from) known.unshift(step);
    else if (raised > (known.at(-1)?.from ?? 0)) known.push(step);
  }
  const spans: AlarmSpan[] = [];
  const aside = new Set(alarms.filter(isInhibited).map(({ rule }) => rule));
  for (const [rule, known] of steps) {
    const isAside = aside.has(rule);
    known.forEach((step, index) => {
      const end = Math.min(known[index + 1]?.from ?? Number.POSITIVE_INFINITY, to);
      if ((step.isActive || !step.isKnown) && step.from < end)
        append(spans, { rule, ...step, to: end, ...(isAside && { isAside }) });
    });
  }
  return spans;
}

/** Entries such as an acknowledgement change nothing that is drawn: the span goes on. */
function append(spans: AlarmSpan[], next: AlarmSpan): void {
  const last = spans.at(-1);
  const isSame =
    last?.rule === next.rule &&
    last.to === next.from &&
    last.isActive === next.isActive &&
    last.isKnown === next.isKnown &&
    last.severity === next.severity;
  if (isSame) spans[spans.length - 1] = { ...last, to: next.to };
  else spans.push(next);
}

function after(entry: Entry, before: Step | undefined): Step {
  return {
    from: Math.max(entry.time, before?.from ?? 0),
    severity: entry.severity ?? before?.severity ?? 'medium',
    isActive: isActiveAfter(entry, before),
    isKnown: isKnownAfter(entry, before),
  };
}

function isActiveAfter({ kind, state }: Entry, before: Step | undefined): boolean {
  if (kind === 'raised') return true;
  if (kind === 'cleared' || isEnd(kind)) return false;
  return state === undefined ? (before?.isActive ?? false) : state === 'active';
}

/** Whether the DAC says no more of the alarm. */
function isEnd(kind: Entry['kind']): boolean {
  return kind === 'rule_removed' || kind === 'moved';
}

function isKnownAfter({ kind, isKnown }: Entry, before: Step | undefined): boolean {
  if (kind === 'unknown') return false;
  if (kind === 'known' || isEnd(kind)) return true;
  return kind === 'raised' || kind === 'cleared' ? isKnown : (before?.isKnown ?? true);
}

/** `Plant::Pump.temperature high`: the type, the path of the metric, and which limit (rules.md, "Limits of PDL"). */
const LIMIT_OF_PDL =
  /^(?:[A-Za-z_]\w*::)*[A-Za-z_]\w*\.(\S+) (?:(?:low|high)(?: warning)?|(?:below|above) range)$/;

/** Returns the metric that the rule of a PDL limit is about; undefined for rules of files. */
function metricOfRule(rule: string): string | undefined {
  return LIMIT_OF_PDL.exec(rule)?.[1];
}

/** The limit of each rule that was always raised at the same one. What clears an alarm can have another limit. */
export function constantLimits(entries: readonly Entry[], alarms: readonly Alarm[]): RuleLimit[] {
  return alarms.flatMap(({ rule, state, limit, unit, severity }) => {
    const raised = entries.filter((entry) => entry.rule === rule && entry.kind === 'raised');
    const limits = new Set(raised.map((entry) => entry.limit));
    if (raised.length === 0 && state === 'active') limits.add(limit);
    const [value] = limits;
    if (value === undefined || limits.size > 1) return [];
    return [{ rule, value, unit, severity, metric: metricOfRule(rule) }];
  });
}
