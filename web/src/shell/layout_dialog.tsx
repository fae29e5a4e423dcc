import { useRef } from 'preact/hooks';
import { resetLayout } from '../commands/layout_actions.ts';
import { copyLink } from '../commands/share.ts';
import { Dialog } from '../components/dialog.tsx';
import { exportDashboard, importDashboard } from '../dashboards/files.ts';
import { openDialog } from '../state/dialogs.ts';
import { notify } from '../state/notice.ts';
import { strings } from '../strings/strings.ts';
import { DacLayouts } from './dac_layouts.tsx';

const words = strings.layouts;
const LARGEST_FILE = 1 << 20;

/** Shares, exports, imports and resets the layout. */
export function LayoutDialog() {
  const file = useRef<HTMLInputElement>(null);
  return (
    <Dialog title={words.title} testId="layout">
      <div class="layout-actions">
        <button type="button" class="button" data-testid="copy-link" onClick={() => void copyLink()}>
          {words.copyLink}
        </button>
        <button type="button" class="button" data-testid="export-layout" onClick={exportDashboard}>
          {words.exportFile}
        </button>
        <button type="button" class="button" onClick={() => file.current?.click()}>
          {words.importFile}
        </button>
        <input
          class="visually-hidden"
          type="file"
          accept="application/json,.json"
          aria-label={words.importFile}
          data-testid="import-layout"
          tabIndex={-1}
          ref={file}
          onChange={(event) => void importLayout(event.currentTarget.files?.[0])}
        />
        <button type="button" class="button" data-testid="reset-layout" onClick={reset}>
          {words.reset}
        </button>
      </div>
      <DacLayouts />
    </Dialog>
  );
}

async function importLayout(file: File | undefined): Promise<void> {
  if (!file) return;
  if (file.size > LARGEST_FILE || !(await importDashboard(await file.text()))) {
    notify(words.notALayout(file.name));
    return;
  }
  openDialog.value = undefined;
}

function reset(): void {
  resetLayout();
  openDialog.value = undefined;
}
