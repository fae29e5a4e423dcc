import { wantedKinds } from '../panels/build.ts';
import { isSingle, type PanelKind } from '../panels/spec.ts';
import { titleOf } from '../panels/title.ts';
import { openDialog } from '../state/dialogs.ts';
import { openSingle, panels, wantedKind } from '../state/panels.ts';
import { addStrings } from '../strings/add_panel.ts';
import { strings } from '../strings.ts';
import type { PaletteEntry } from './entry.ts';
import { reveal } from './instances.ts';

const words = strings.palette;

/** Open panels to go to. */
export function* openPanelEntries(): Iterable<PaletteEntry> {
  for (const spec of panels.peek()) {
    yield {
      id: `panel ${spec.id}`,
      kind: 'panel',
      title: titleOf(spec),
      detail: words.openPanel,
      words: strings.panels.kind[spec.kind],
      run: () => reveal(spec.id),
    };
  }
}

/** Panels to add. */
export function* addPanelEntries(): Iterable<PaletteEntry> {
  for (const kind of wantedKinds) {
    yield {
      id: `add ${kind}`,
      kind: 'panel',
      title: words.addPanel(addStrings.kinds[kind]),
      detail: addStrings.about[kind],
      run: () => {
        if (isSingle(kind as PanelKind)) {
          openSingle(kind as Parameters<typeof openSingle>[0]);
          return;
        }
        wantedKind.value = kind;
        openDialog.value = 'add';
      },
    };
  }
}
