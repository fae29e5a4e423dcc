import { bindings } from '../commands/keys.ts';
import { resetLayout } from '../commands/layout_actions.ts';
import { exportDashboard } from '../dashboards/files.ts';
import { formatSpan } from '../format/time.ts';
import { mayReadAuditLog } from '../state/audit_log.ts';
import { openDialog } from '../state/dialogs.ts';
import { mayAdminister, signOut, who } from '../state/session.ts';
import { hasArchive } from '../state/store.ts';
import { SPANS, setSpan } from '../state/time.ts';
import { strings } from '../strings/strings.ts';
import type { PaletteEntry } from './entry.ts';

const words = strings.palette;
/** Keys that save a file, and another word for that. */
const EXPORTS: ReadonlySet<string> = new Set('wpc');
const EXPORT = 'export';

/** What the page can do: everything that has a key, and what has none. */
export function* pageCommands(): Iterable<PaletteEntry> {
  for (const { keys, what, act } of bindings) {
    if (keys.includes('k')) continue;
    yield {
      id: `key ${keys[0]}`,
      kind: 'command',
      title: what(),
      keys: keys.slice(0, 1),
      ...(EXPORTS.has(keys[0]) && { words: EXPORT }),
      run: act,
    };
  }
  yield* layoutCommands();
  for (const span of SPANS) {
    yield {
      id: `span ${span}`,
      kind: 'command',
      title: words.span(formatSpan(span)),
      detail: words.spanDetail,
      run: () => setSpan(span),
    };
  }
  yield dialogEntry('preferences', words.preferences);
  if (mayAdminister.peek()) {
    yield dialogEntry('accounts', words.accounts);
    if (hasArchive.peek()) yield dialogEntry('import', words.importRecording);
  }
  if (mayReadAuditLog.peek()) yield dialogEntry('audit-log', words.auditLog);
  if (who.peek()?.kind !== 'person') return;
  yield dialogEntry('password', words.password);
  yield {
    id: 'sign-out',
    kind: 'command',
    title: words.signOut,
    sure: words.sureToSignOut,
    run: () => void signOut(),
  };
}

function* layoutCommands(): Iterable<PaletteEntry> {
  yield {
    id: 'reset-layout',
    kind: 'command',
    title: words.resetLayout,
    detail: words.resetDetail,
    sure: words.sureToReset,
    run: resetLayout,
  };
  yield {
    id: 'export-layout',
    kind: 'command',
    title: words.exportLayout,
    words: EXPORT,
    run: exportDashboard,
  };
}

function dialogEntry(name: NonNullable<typeof openDialog.value>, title: string): PaletteEntry {
  return {
    id: `dialog ${name}`,
    kind: 'command',
    title,
    run: () => {
      openDialog.value = name;
    },
  };
}
