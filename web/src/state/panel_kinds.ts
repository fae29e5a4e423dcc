import type { Target } from '../wire/target.ts';

/**
 * Contents of panels by their kinds, as plain data: they are saved, shared and exported. Each folder of `panels` adds its
 * kind, so that the whole page is checked against all kinds without an import from there.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the folders of panels extend it
export interface PanelContents {}

export type PanelKind = keyof PanelContents;
export type ContentOf<K extends PanelKind> = { [P in K]: { readonly kind: P } & PanelContents[P] }[K];
export type SpecOf<K extends PanelKind> = { readonly id: string } & ContentOf<K>;
export type PanelContent = ContentOf<PanelKind>;
export type PanelSpec = SpecOf<PanelKind>;

/** A panel of the whole page has no content of its own: one of each is enough. */
export type SingleKind = {
  [K in PanelKind]: keyof PanelContents[K] extends never ? K : never;
}[PanelKind];

/** A panel with settings of its own. */
export type SettableSpec = {
  [K in PanelKind]: 'settings' extends keyof PanelContents[K] ? SpecOf<K> : never;
}[PanelKind];

/** The parts of the settings dialog that a panel has, beside its title. */
export interface SettingParts {
  /** Unit, digits and thresholds. */
  readonly hasValues: boolean;
  /** Ends of the axis. */
  readonly hasAxis: boolean;
  /** Colors of lines, and the scale of the axis. */
  readonly hasLines: boolean;
}

/** The part of a panel's description that the layers below the panels need. */
export interface PanelLogic<C = PanelContent> {
  readonly kind: PanelKind;
  /** The name of the kind in titles. */
  readonly name: string;
  /** Whether one panel of the kind is enough. */
  readonly isSingle?: boolean;
  targets(content: C): readonly Target[];
  /** Returns the content without an instance; undefined if nothing is left. A panel without this method closes. */
  without?(content: C, key: string): C | undefined;
  /** Returns the title of a panel without one; `instances` are the names of its instances. */
  title?(content: C, instances: string): string;
  /** Returns the settings that the panel has; none without. */
  settings?(content: C): SettingParts;
  /** Returns the content of a panel within this one, by its key. */
  inner?(content: C, key: string): PanelContent;
  /** Returns the content once a panel within this one was changed; undefined if it cannot have the change. */
  withInner?(content: C, key: string, changed: PanelContent): C | undefined;
}

let kinds: ReadonlyMap<string, PanelLogic> = new Map();

/** Sets the kinds of panels that the page has. */
export function setPanelKinds(all: readonly PanelLogic[]): void {
  kinds = new Map(all.map((logic) => [logic.kind, logic]));
}

export function logicOf(kind: PanelKind): PanelLogic {
  const found = kinds.get(kind);
  if (!found) throw new Error(`no panel of kind ${kind}`);
  return found;
}

export function isSettable(spec: PanelContent): spec is SettableSpec {
  return 'id' in spec && logicOf(spec.kind).settings !== undefined;
}

export function targetsOf(content: PanelContent): readonly Target[] {
  return logicOf(content.kind).targets(content);
}
