import { computed, signal } from '@preact/signals';
import { strings } from '../strings/strings.ts';
import { keyOf, type Target } from '../wire/target.ts';
import { activeDock } from './active_dock.ts';
import { openDialog } from './dialogs.ts';
import { notify } from './notice.ts';
import { logicOf, type PanelContent, type PanelSpec, type SingleKind, targetsOf } from './panel_kinds.ts';

/** The open panels in the order of opening. The layout decides where they are. */
export const panels = signal<readonly PanelSpec[]>([]);

/** The instances that any panel shows, in the order of their first panel. */
export const shownTargets = computed(() => {
  const found = new Map<string, Target>();
  for (const spec of panels.value) for (const target of targetsOf(spec)) found.set(keyOf(target), target);
  return [...found.values()];
});

/** Instances that something beside the panels shows, by who does: a dialog, or the preview of a rule. */
const borrowed = signal<ReadonlyMap<string, readonly Target[]>>(new Map());

/** The instances that the page reads: those of panels, and borrowed ones. */
export const readTargets = computed(() => {
  const found = new Map(shownTargets.value.map((target) => [keyOf(target), target]));
  for (const targets of borrowed.value.values())
    for (const target of targets) found.set(keyOf(target), target);
  return [...found.values()];
});

/** Reads instances until the returned function is called. */
export function borrow(reader: string, targets: readonly Target[]): () => void {
  borrowed.value = new Map(borrowed.peek()).set(reader, targets);
  return () => {
    const rest = new Map(borrowed.peek());
    if (rest.get(reader) !== targets) return;
    rest.delete(reader);
    borrowed.value = rest;
  };
}

/** The name of the choice in the dialog that adds panels. */
export const wantedChoice = signal('chart');

/** The panel whose settings are open. */
export const settled = signal<string | undefined>(undefined);

let lastId = 0;

export function openPanel(content: PanelContent): PanelSpec {
  const spec = { ...content, id: freshId() };
  panels.value = [...panels.peek(), spec];
  return spec;
}

export function openPanels(contents: readonly PanelContent[]): void {
  panels.value = [...panels.peek(), ...contents.map((content) => ({ ...content, id: freshId() }))];
}

/** The first of the panels that opened together, by each of the others: the dock divides its place among them. */
export const firstOfTogether = new Map<string, string>();

/** Replaces a panel by others, which are all to be seen. */
export function openTogether(id: string, [first, ...others]: readonly PanelContent[]): void {
  if (first === undefined) return;
  const specs = others.map((content) => ({ ...content, id: freshId() }));
  for (const spec of specs) firstOfTogether.set(spec.id, id);
  panels.value = panels.peek().flatMap((spec) => (spec.id === id ? [{ ...first, id }, ...specs] : [spec]));
}

/** The panel that somebody has asked for last: on a narrow screen it may be far below. */
export const revealed = signal<{ readonly id: string } | undefined>(undefined);

/** The kind of panel that takes the focus as soon as it is there: somebody has opened it with a key. */
export const wantsFocus = signal<SingleKind | undefined>(undefined);

/** Opens a panel that exists once, or brings it to the front. */
export function openSingle(kind: SingleKind): void {
  const found = panels.peek().find((spec) => spec.kind === kind) ?? openPanel({ kind } as PanelContent);
  activeDock()?.focus(found.id);
  revealed.value = { id: found.id };
}

export function openSettings(id: string): void {
  settled.value = id;
  openDialog.value = 'settings';
}

export function closePanel(id: string): void {
  firstOfTogether.delete(id);
  panels.value = panels.peek().filter((spec) => spec.id !== id);
}

/** Changes the content of a panel in its place; says so if the panel that it is within cannot have the change. */
export function changePanel(id: string, content: PanelContent): void {
  const { outer, key } = outerOf(id, panels.peek());
  const whole = outer ? logicOf(outer.kind).withInner?.(outer, key, content) : content;
  if (!whole) {
    notify(strings.panels.cannotChange);
    return;
  }
  const changed = outer?.id ?? id;
  panels.value = panels.peek().map((spec) => (spec.id === changed ? { ...whole, id: changed } : spec));
}

export function closeTarget(target: Target): void {
  panels.value = panels.peek().flatMap((spec) => withoutTarget(spec, target) ?? []);
}

/** Returns a panel without an instance that is no longer watched; undefined if no other is left. */
export function withoutTarget(spec: PanelSpec, target: Target): PanelSpec | undefined {
  const key = keyOf(target);
  if (!targetsOf(spec).some((other) => keyOf(other) === key)) return spec;
  const content = logicOf(spec.kind).without?.(spec, key);
  return content && { ...content, id: spec.id };
}

/** Returns a panel, also one within another: its identifier is that of the other, a slash and its key there. */
export function findPanel(id: string): PanelSpec | undefined {
  const found = panels.value.find((spec) => spec.id === id);
  if (found) return found;
  const { outer, key } = outerOf(id, panels.value);
  const content = outer && logicOf(outer.kind).inner?.(outer, key);
  return content && { ...content, id };
}

function outerOf(id: string, all: readonly PanelSpec[]) {
  const isOuter = (spec: PanelSpec) => id.startsWith(`${spec.id}/`) && logicOf(spec.kind).inner !== undefined;
  const outer = all.some((spec) => spec.id === id) ? undefined : all.find(isOuter);
  return { outer, key: outer ? id.slice(outer.id.length + 1) : '' };
}

function freshId(): string {
  const taken = new Set(panels.peek().map(({ id }) => id));
  do lastId++;
  while (taken.has(`p${lastId}`));
  return `p${lastId}`;
}
