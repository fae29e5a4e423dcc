import type { Span } from './spans.ts';

/** A span with those that are parts of it, earliest first. */
export interface SpanNode {
  readonly span: Span;
  readonly children: SpanNode[];
  /** Whether the span that it is a part of is not there: it goes on, or is not in the time shown. */
  readonly isPart: boolean;
}

/** Spans that belong together: those of one root, or of several programs with one `trace_id`. */
export interface Trace {
  /** Stays the same while spans are added. */
  readonly key: string;
  readonly roots: readonly SpanNode[];
  readonly start: number;
  readonly end: number;
  readonly count: number;
  readonly failed: number;
}

/** A row of a waterfall. */
export interface SpanRow {
  readonly node: SpanNode;
  readonly depth: number;
}

const NOTHING = '0';
/** Time and duration of a span come from two clocks. */
const SLACK_MS = 1;
const MAX_DEPTH = 64;
const TRACE_ID = /^trace[_.]?id$/i;

/** Builds traces, the newest first. */
export function tracesOf(spans: readonly Span[]): Trace[] {
  const parents = parentsOf(spans);
  const earliest = spans.toSorted((one, other) => one.start - other.start || other.end - one.end);
  const nodes = new Map<Span, SpanNode>();
  for (const span of earliest)
    nodes.set(span, { span, children: [], isPart: span.parent !== NOTHING && !parents.has(span) });
  const roots: SpanNode[] = [];
  for (const [span, node] of nodes) {
    const parent = parents.get(span);
    const siblings = parent ? nodes.get(parent)?.children : roots;
    siblings?.push(node);
  }
  const groups = groupBy(roots, ({ span }) => traceIdOf(span) ?? keyOfSpan(span));
  return [...groups]
    .map(([key, found]) => traceFrom(key, found))
    .sort((one, other) => other.start - one.start);
}

/** The rows of a trace, without those below collapsed spans. */
export function rowsOf({ roots }: Trace, collapsed: ReadonlySet<string>): SpanRow[] {
  const rows: SpanRow[] = [];
  const add = (node: SpanNode, depth: number) => {
    rows.push({ node, depth });
    if (collapsed.has(keyOfSpan(node.span))) return;
    for (const child of node.children) add(child, depth + 1);
  };
  for (const root of roots) add(root, 0);
  return rows;
}

export function keyOfSpan({ key, sequence }: Span): string {
  return `${key} ${sequence}`;
}

/** All spans of a trace. */
export function spansIn(trace: Trace): Span[] {
  return rowsOf(trace, new Set()).map(({ node }) => node.span);
}

/** Whether a span contains all words, in lower case. */
export function matches(span: Span, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const fields = span.fields.map(([name, value]) => `${name}=${value}`).join(' ');
  const text = `${span.name} ${span.target} ${span.thread} ${fields}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/**
 * The trace at a time: one with a span of the name, if there is one, and of several the shortest. Undefined if none is
 * there.
 */
export function traceAt(traces: readonly Trace[], time: number, name = ''): Trace | undefined {
  const there = traces.filter(({ start, end }) => start - SLACK_MS <= time && time <= end + SLACK_MS);
  const named = there.filter((trace) => trace.roots.some(({ span }) => span.name === name));
  const [first] = (named.length > 0 ? named : there).toSorted(
    (one, other) => one.end - one.start - (other.end - other.start),
  );
  return first;
}

/** The parent of each span that has one. */
function parentsOf(spans: readonly Span[]): Map<Span, Span> {
  const byId = groupBy(spans, ({ key, id }) => `${key} ${id}`);
  const parents = new Map<Span, Span>();
  for (const span of spans) {
    if (span.parent === NOTHING) continue;
    const parent = enclosing(span, byId.get(`${span.key} ${span.parent}`) ?? []);
    if (parent && !isCircle(span, parent, parents)) parents.set(span, parent);
  }
  return parents;
}

/** Numbers come again: the parent is the first to end of those that went on while the span began. */
function enclosing(span: Span, candidates: readonly Span[]): Span | undefined {
  const going = candidates.filter(
    ({ start, end }) => start <= span.start + SLACK_MS && end >= span.start - SLACK_MS,
  );
  return going.reduce<Span | undefined>(
    (best, each) => (best && best.end <= each.end ? best : each),
    undefined,
  );
}

/** Whether a span would be a part of itself, or of too many others. */
function isCircle(span: Span, parent: Span, parents: ReadonlyMap<Span, Span>): boolean {
  let above: Span | undefined = parent;
  for (let depth = 0; above; depth++) {
    if (above === span || depth >= MAX_DEPTH) return true;
    above = parents.get(above);
  }
  return false;
}

function traceFrom(key: string, roots: readonly SpanNode[]): Trace {
  const trace = {
    key,
    roots,
    start: Number.POSITIVE_INFINITY,
    end: Number.NEGATIVE_INFINITY,
    count: 0,
    failed: 0,
  };
  for (const { start, end, isFailed } of spansIn(trace)) {
    trace.start = Math.min(trace.start, start);
    trace.end = Math.max(trace.end, end);
    trace.count++;
    if (isFailed) trace.failed++;
  }
  return trace;
}

function traceIdOf({ fields }: Span): string | undefined {
  const value = fields.find(([name]) => TRACE_ID.test(name))?.[1];
  return value ? `trace ${value}` : undefined;
}

function groupBy<T>(all: readonly T[], keyOf: (each: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const each of all) {
    const group = groups.get(keyOf(each));
    if (group) group.push(each);
    else groups.set(keyOf(each), [each]);
  }
  return groups;
}
