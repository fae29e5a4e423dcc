import { effect, signal } from '@preact/signals';
import { isFields } from '../fields.ts';
import { ask } from './api.ts';
import { reread } from './reread.ts';
import { hasArchive, isConnected } from './store.ts';

/** Why the archive of the DAC stores nothing now (http-api.md, "archive"). */
export interface ArchiveTrouble {
  /** `disk_full`, `disk_error`, or what a newer DAC may say. */
  readonly condition: string;
  /** What the system said. */
  readonly detail: string;
}

/** Nothing while it stores, or there is none. */
export const archiveTrouble = signal<ArchiveTrouble | undefined>(undefined);

const REREAD_MS = 5000;

/** Keeps it up to date. */
export function followArchiveCondition(): void {
  effect(() => {
    // That there is no connection is said elsewhere.
    if (!isConnected.value) return;
    if (!hasArchive.value) {
      archiveTrouble.value = undefined;
      return;
    }
    return reread(async (signal) => {
      const answer = await ask('GET', 'archive', { signal }).catch(() => undefined);
      // Without an answer it stays as it was.
      if (answer !== undefined) archiveTrouble.value = troubleIn(answer);
    }, REREAD_MS);
  });
}

function troubleIn(answer: unknown): ArchiveTrouble | undefined {
  if (!isFields(answer) || typeof answer.condition !== 'string' || answer.condition === 'storing')
    return undefined;
  return {
    condition: answer.condition,
    detail: typeof answer.detail === 'string' ? answer.detail : '',
  };
}
