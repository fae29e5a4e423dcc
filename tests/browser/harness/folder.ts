import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let current = join(tmpdir(), `oasis-browser-${process.pid}`);

/** Makes the folder of the next test file. */
export function newFileFolder(): void {
  current = mkdtempSync(join(tmpdir(), 'oasis-browser-'));
}

/** Removes the folder of a test file whose processes have ended. */
export function removeFileFolder(): void {
  rmSync(current, { recursive: true, force: true });
}

/** Where processes keep accounts and audit log, which are neither the developer's nor those of another test file. */
export function stateFolder(): string {
  return join(current, 'state');
}

/** Makes a folder that is removed after the test file and its processes. */
export function temporaryFolder(): string {
  mkdirSync(current, { recursive: true });
  return mkdtempSync(join(current, 'folder-'));
}
