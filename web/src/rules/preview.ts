import { alarmKey, numberIn, severityIn, textIn, timeIn } from '../alarms/alarm.ts';
import type { Entry } from '../alarms/journal.ts';
import { type AlarmSpan, spansOf } from '../alarms/spans.ts';
import { fetchJson } from '../api/api.ts';
import { type Fields, isFields, listOf, valuesOf } from '../wire/fields.ts';
import { keyOf, type Target } from '../wire/target.ts';
import { type Diagnostic, parseDiagnostics } from './files.ts';

/** What rules would have reported, if they had been there. */
export interface Preview {
  /** The time that was read; milliseconds, browser clock. */
  readonly from: number;
  readonly to: number;
  /** In the order of time. */
  readonly events: readonly Entry[];
  readonly diagnostics: readonly Diagnostic[];
  readonly instances: number;
  readonly samples: number;
  /** Missing ones, where rules are unknown. */
  readonly missing: number;
  readonly isTruncated: boolean;
  readonly notes: readonly string[];
}

/** The DAC takes 10 s at most, and others may be before this one. */
const PATIENCE_MS = 40_000;

export async function previewRules(
  text: string,
  [from, to]: readonly [number, number],
  signal: AbortSignal,
): Promise<Preview> {
  // Milliseconds are exact enough, and fit a double as nanoseconds do not.
  const body = { text, from: Math.round(from) * 1e6, to: Math.round(to) * 1e6 };
  return parsePreview(await fetchJson('POST', 'rules/preview', { body, signal, patience: PATIENCE_MS }), [
    from,
    to,
  ]);
}

export function parsePreview(answer: unknown, [from, to]: readonly [number, number]): Preview {
  const json = isFields(answer) ? answer : {};
  return {
    from,
    to,
    events: listOf(json.events)
      .flatMap((event, index) => eventOf(event, index) ?? [])
      .sort((one, other) => one.time - other.time),
    diagnostics: parseDiagnostics(json.diagnostics),
    instances: numberIn(json, 'instances') ?? 0,
    samples: numberIn(json, 'samples') ?? 0,
    missing: numberIn(json, 'missing') ?? 0,
    isTruncated: json.truncated === true,
    notes: valuesOf(json.notes).filter((note) => typeof note === 'string'),
  };
}

function eventOf(json: Fields, index: number): Entry | undefined {
  const time = timeIn(json, 'time');
  const { rule, event } = json;
  if (typeof rule !== 'string' || typeof event !== 'string' || time === undefined) return undefined;
  const target = targetIn(json);
  const { state } = json;
  return {
    id: String(index),
    key: alarmKey(rule, target),
    rule,
    ...target,
    time,
    dacTime: undefined,
    kind: event,
    state: state === 'active' || state === 'latched' || state === 'normal' ? state : undefined,
    severity: json.severity === undefined || json.severity === null ? undefined : severityIn(json),
    isKnown: json.quality !== 'unknown',
    value: numberIn(json, 'value'),
    limit: numberIn(json, 'limit'),
    unit: textIn(json, 'unit') || undefined,
    sequence: numberIn(json, 'sequence'),
    since: timeIn(json, 'since'),
    missing: numberIn(json, 'missing'),
    cause: textIn(json, 'cause'),
    isLate: false,
    principal: '',
    comment: '',
  };
}

function targetIn(json: Fields): Target {
  if (typeof json.node === 'string' && typeof json.instance === 'string')
    return { node: json.node, instance: json.instance };
  const source = textIn(json, 'source');
  const slash = source.indexOf('/');
  return { node: source.slice(0, Math.max(0, slash)), instance: source.slice(slash + 1) };
}

/** The instances that have events, the one with most events first. */
export function sourcesOf(events: readonly Entry[]): Target[] {
  const counts = new Map<string, { readonly target: Target; count: number }>();
  for (const { node, instance } of events) {
    const target = { node, instance };
    const known = counts.get(keyOf(target));
    if (known) known.count++;
    else counts.set(keyOf(target), { target, count: 1 });
  }
  return [...counts.values()].sort((one, other) => other.count - one.count).map(({ target }) => target);
}

/** How often each rule would have reported each kind of event, in the order of first appearance. */
export function countsOf(
  events: readonly Entry[],
): { readonly rule: string; readonly kinds: ReadonlyMap<string, number> }[] {
  const found = new Map<string, Map<string, number>>();
  for (const { rule, kind } of events) {
    const kinds = found.get(rule) ?? new Map<string, number>();
    found.set(rule, kinds.set(kind, (kinds.get(kind) ?? 0) + 1));
  }
  return [...found].map(([rule, kinds]) => ({ rule, kinds }));
}

const SINGLE: Readonly<Record<string, AlarmSpan['severity']>> = {
  violated: 'high',
  matched: 'medium',
  satisfied: 'low',
};

/** What a chart of an instance shows: spans of alarms, and a line for each other event. */
export function previewSpans(events: readonly Entry[], to: number): AlarmSpan[] {
  const alarms = events.filter(({ state }) => state !== undefined);
  const others = events.flatMap(({ rule, kind, time, isKnown }): AlarmSpan[] => {
    const severity = SINGLE[kind];
    return severity ? [{ rule, from: time, to: time, severity, isActive: true, isKnown }] : [];
  });
  return [...spansOf([...alarms].reverse(), [], to), ...others];
}

/** Share of the time that events fill at least, so that a chart shows all of it. */
const FILLED = 0.25;
const MARGIN_MS = 15_000;

/** The time that a chart shows: that of the events with some room, if they are near each other. */
export function chartTime(events: readonly Entry[], from: number, to: number): [number, number] {
  const [first, last] = [events[0]?.time ?? from, events.at(-1)?.time ?? to];
  if (last - first > (to - from) * FILLED) return [from, to];
  const room = Math.max(MARGIN_MS, (last - first) / 4);
  return [Math.max(from, first - room), Math.min(to, last + room)];
}

/** The metrics that a text names. */
export function metricsIn(text: string): string[] {
  return [...new Set([...text.matchAll(/\b[A-Za-z_]\w*\.([A-Za-z_][\w.]*)/g)].map(([, metric]) => metric))];
}
