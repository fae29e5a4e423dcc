import { closeVisits } from './browser.ts';
import { removeFileFolder } from './folder.ts';
import { endProcesses } from './oasis.ts';

/** Ends what a test file has left: a hook that fails skips those that would have ended it. */
export async function endLeftovers(): Promise<void> {
  await closeVisits();
  await endProcesses();
  removeFileFolder();
}

atWorkerEnd(endLeftovers);
