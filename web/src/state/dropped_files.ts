import { openDialog } from './dialogs.ts';
import { isViewOnly } from './mode.ts';

let dropped: readonly File[] = [];

/** Opens the import of recordings when files are dropped on the page. */
export function acceptDroppedFiles(): void {
  if (isViewOnly) return;
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files');
  // Otherwise the browser would leave the page and open the file.
  document.addEventListener('dragover', (event) => hasFiles(event) && event.preventDefault());
  document.addEventListener('drop', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    dropped = [...(event.dataTransfer?.files ?? [])];
    // An import that is open keeps its file.
    if (openDialog.peek() !== 'import') openDialog.value = 'import';
  });
}

/** Returns the files that were dropped last, once. */
export function takeDroppedFiles(): readonly File[] {
  const files = dropped;
  dropped = [];
  return files;
}
