import { descriptions, panelChoices } from '../panels/descriptions.ts';
import { isRepeatable, repeated } from '../panels/shared/repeated.ts';
import { openDialog } from '../state/dialogs.ts';
import { isViewOnly } from '../state/mode.ts';
import { logicOf, type SingleKind } from '../state/panel_kinds.ts';
import { titleOf } from '../state/panel_titles.ts';
import { changePanel, openSingle, panels, wantedChoice } from '../state/panels.ts';
import { strings } from '../strings/strings.ts';
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
      words: logicOf(spec.kind).name,
      run: () => reveal(spec.id),
    };
    if (isViewOnly || !isRepeatable(spec)) continue;
    yield {
      id: `repeat ${spec.id}`,
      kind: 'panel',
      title: words.repeat(titleOf(spec)),
      detail: words.repeatDetail,
      run: () => changePanel(spec.id, { kind: 'repeat', ...repeated(spec) }),
    };
  }
}

/** Panels to add. */
export function* addPanelEntries(): Iterable<PaletteEntry> {
  for (const { name, label, about } of panelChoices) {
    yield {
      id: `add ${name}`,
      kind: 'panel',
      title: words.addPanel(label),
      detail: about,
      run: () => {
        const single = descriptions.find(({ kind, isSingle }) => isSingle && kind === name);
        if (single) {
          openSingle(single.kind as SingleKind);
          return;
        }
        wantedChoice.value = name;
        openDialog.value = 'add';
      },
    };
  }
}
