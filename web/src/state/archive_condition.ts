import { effect, signal } from '@preact/signals';
import { isFields } from '../fields.ts';
import { ask } from './api.ts';
import { reread } from './reread.ts';
import { hasArchive, isConnected } from './store.ts';

/** The reason why the archive of the DAC stores nothing now (http-api.md, "archive"). */
export interface ArchiveTrouble {
  /** `disk_full`, `disk_error`, `gone`, `stopped`, or a word of a newer DAC. */
  readonly condition: string;
  /** The message of the operating system. */
  readonly detail: string;
}

/** Undefined while the archive stores samples, or without an archive. */
export const archiveTrouble = signal<ArchiveTrouble | undefined>(undefined);

const REREAD_MS = 5000;

/** Keeps {@link archiveTrouble} up to date. */
export function followArchiveCondition(): void {
  effect(() => {
    // The banner reports the lost connection.
    if (!isConnected.value) return;
    if (!hasArchive.value) {
      archiveTrouble.value = undefined;
      return;
    }
    return reread(async (signal) => {
      const answer = await ask('GET', 'archive', { signal }).catch(() => undefined);
      // Without a response the state stays as it was.
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
