import { loadReference } from '../help/load.ts';
import type { Reference } from '../help/page_reference.ts';
import { openTopic } from '../help/topic.ts';
import { descriptions } from '../panels/descriptions.ts';
import { strings } from '../strings/strings.ts';
import type { PaletteEntry } from './entry.ts';

let reference: Reference | undefined;

export async function prepareHelp(): Promise<void> {
  reference = await loadReference();
}

/** Help on each kind of panel, and the sections of the reference. */
export function* helpEntries(): Iterable<PaletteEntry> {
  for (const { kind, name } of descriptions) {
    if (kind === 'auto') continue;
    yield {
      id: `help ${kind}`,
      kind: 'help',
      title: strings.palette.panelHelp(name),
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
