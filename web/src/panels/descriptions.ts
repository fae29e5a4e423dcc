import { type PanelContent, type PanelKind, type PanelSpec, setPanelKinds } from '../state/panel_kinds.ts';
import { isFields } from '../wire/fields.ts';
import * as registry from './registry.ts';
import type { AnyPanel, PanelChoice } from './shared/description.ts';
import { parseName } from './shared/parse.ts';

/** The kinds of panels, in the order of their names. */
export const descriptions: readonly AnyPanel[] = Object.values(registry);

const byKind = new Map<unknown, AnyPanel>(descriptions.map((description) => [description.kind, description]));
setPanelKinds(descriptions);

export function descriptionOf(kind: PanelKind): AnyPanel {
  const found = byKind.get(kind);
  if (!found) throw new Error(`no panel of kind ${kind}`);
  return found;
}

/** Parses an untrusted panel of a layout; undefined if it is none, or nothing of it is valid. */
export function parsePanel(json: unknown): PanelSpec | undefined {
  if (!isFields(json)) return undefined;
  const id = parseName(json.id);
  const content = parseContent(json);
  return !id || content === undefined ? undefined : { id, ...content };
}

/** The documents that are read have a bounded depth. */
function parseContent(json: unknown): PanelContent | undefined {
  return isFields(json) ? byKind.get(json.kind)?.parse(json, parseContent) : undefined;
}

/** Entries of the dialog that adds panels: of metrics first, and panels of the whole page last. */
export const panelChoices: readonly PanelChoice[] = [
  ...choicesWhere(({ from }) => from === 'metrics'),
  ...choicesWhere(({ from }) => from === 'expressions'),
  ...choicesWhere(({ from }) => from === 'instances'),
  ...choicesWhere(({ from }, { isSingle }) => from === 'nothing' && !isSingle),
  ...choicesWhere((_, { isSingle }) => isSingle === true),
];

function choicesWhere(isWanted: (choice: PanelChoice, panel: AnyPanel) => boolean): PanelChoice[] {
  return descriptions
    .flatMap((panel) => (panel.choices ?? []).filter((choice) => isWanted(choice, panel)))
    .toSorted((one, other) => (one.label < other.label ? -1 : 1));
}
