import { effect, signal } from '@preact/signals';
import { fetchJson } from '../api/api.ts';
import { isFields, listOf } from '../wire/fields.ts';
import { reread } from './reread.ts';
import { hasArchive, isConnected } from './store.ts';

/** The reason why the archive of the DAC stores nothing now (http-api.md, "archive"). */
export interface ArchiveTrouble {
  /** `disk_full`, `disk_error`, `gone`, `stopped`, or a word of a newer DAC. */
  readonly condition: string;
  /** The message of the operating system. */
  readonly detail: string;
}

/** Samples will be evicted that somebody may expect to be kept. */
export interface ArchiveWarning {
  /** `size_before_age`, `heavy_node`, `pins_at_limit`, `awaits_copy`, or a word of a newer DAC. */
  readonly code: string;
  /** One sentence with what to do. */
  readonly detail: string;
}

/** Undefined while the archive stores samples, or without an archive. */
export const archiveTrouble = signal<ArchiveTrouble | undefined>(undefined);
/** The folder of the archive on the host of the DAC; empty if it is not known. */
export const archiveFolder = signal('');
/** Empty without an archive. */
export const archiveWarnings = signal<readonly ArchiveWarning[]>([]);

const REREAD_MS = 5000;
const MAX_WARNINGS = 100;

/** Keeps {@link archiveTrouble} and {@link archiveWarnings} up to date. */
export function followArchiveCondition(): void {
  effect(() => {
    // The banner reports the lost connection.
    if (!isConnected.value) return;
    if (!hasArchive.value) {
      archiveTrouble.value = undefined;
      archiveWarnings.value = [];
      return;
    }
    return reread(async (signal) => {
      const answer = await fetchJson('GET', 'archive', { signal }).catch(() => undefined);
      // Without a response the state stays as it was.
      if (answer === undefined) return;
      archiveFolder.value = isFields(answer) && typeof answer.directory === 'string' ? answer.directory : '';
      archiveTrouble.value = troubleIn(answer);
      archiveWarnings.value = warningsIn(answer);
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

function warningsIn(answer: unknown): readonly ArchiveWarning[] {
  if (!isFields(answer)) return [];
  return listOf(answer.warnings)
    .slice(0, MAX_WARNINGS)
    .flatMap(({ code, detail }) =>
      typeof code === 'string' && typeof detail === 'string' ? [{ code, detail }] : [],
    );
}
