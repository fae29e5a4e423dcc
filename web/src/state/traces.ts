import { signal } from '@preact/signals';
import { strings } from '../strings/strings.ts';
import type { Span } from '../traces/spans.ts';
import { keyOf, type Target, targetOfKey } from '../wire/target.ts';
import { activeDock } from './active_dock.ts';
import { nameOf } from './names.ts';
import { notify } from './notice.ts';
import { openPanel, panels, revealed } from './panels.ts';
import { registry } from './store.ts';

/** The type that every SDK shares. */
const SPANS = 'OASIS::Program::SpanProbe';
/** How long a trace is looked for: the code of the panel, and samples of the archive, may have to arrive. */
const SOUGHT_MS = 5000;

/** A trace that somebody wants to see. */
export interface WantedTrace {
  /** Key of an instance whose spans it has; undefined for any. */
  readonly key?: string;
  readonly time: number;
  /** Number of one of its spans. */
  readonly sequence?: number;
  /** Name of its root. */
  readonly name?: string;
}

/** What panels of traces show next; each takes what it has. */
export const wantedTrace = signal<WantedTrace | undefined>(undefined);

/** Shows a trace in the panel that has its instance; opens one if none has. */
export function openTrace(target: Target, wanted: Omit<WantedTrace, 'key'>): void {
  const key = keyOf(target);
  const has = panels
    .peek()
    .find((spec) => spec.kind === 'traces' && spec.targets.some((each) => keyOf(each) === key));
  const found = has ?? openPanel({ kind: 'traces', targets: [target] });
  const sought = { ...wanted, key };
  wantedTrace.value = sought;
  // A panel that finds it later would change before the eyes of whoever has gone on.
  setTimeout(() => {
    if (wantedTrace.peek() !== sought) return;
    wantedTrace.value = undefined;
    notify(strings.events.noTrace);
  }, SOUGHT_MS);
  activeDock()?.focus(found.id);
  revealed.value = { id: found.id };
}

/** The instance of a node that reports spans; undefined without one. Reads signals. */
export function spansOfNode(node: string): Target | undefined {
  const found = registry.value?.instances.find((entry) => entry.node === node && entry.type === SPANS);
  return found && { node, instance: found.instance };
}

/** Shows the trace at a time in each panel that has one; no panel does so later. */
export function showTraceAt(time: number): void {
  wantedTrace.value = { time };
  wantedTrace.value = undefined;
}

/** The name of the instance that reported a span. Reads signals. */
export function sourceOf({ key }: Span): string {
  return nameOf(targetOfKey(key));
}
