import { loadReference } from '../help/load.ts';
import type { Reference } from '../help/page_reference.ts';
import { openTopic } from '../help/topic.ts';
import type { PanelKind } from '../panels/spec.ts';
import { strings } from '../strings.ts';
import type { PaletteEntry } from './entry.ts';

let reference: Reference | undefined;

export async function prepareHelp(): Promise<void> {
  reference = await loadReference();
}

/** Help on each kind of panel, and the sections of the reference. */
export function* helpEntries(): Iterable<PaletteEntry> {
  const kinds = Object.keys(strings.panels.kind).filter((kind) => kind !== 'auto') as PanelKind[];
  for (const kind of kinds) {
    yield {
      id: `help ${kind}`,
      kind: 'help',
      title: strings.palette.panelHelp(strings.panels.kind[kind]),
      run: () => openTopic({ panel: kind }),
    };
  }
  for (const { id, title } of reference?.sections ?? []) {
    yield {
      id: `topic ${id}`,
      kind: 'help',
      title: strings.palette.panelHelp(title),
      run: () => openTopic({ section: id }),
    };
  }
}
