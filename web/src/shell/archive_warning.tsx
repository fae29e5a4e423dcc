import { Dot } from '../components/dot.tsx';
import { archiveTrouble, archiveWarnings } from '../state/archive_condition.ts';
import { strings } from '../strings/strings.ts';

/** A warning while the archive stores samples but will evict some that somebody may expect to be kept. */
export function ArchiveWarning() {
  const warnings = archiveWarnings.value;
  if (archiveTrouble.value !== undefined || warnings.length === 0) return null;
  return (
    <div
      class="pill pill-warn archive-trouble"
      role="status"
      title={warnings.map(({ detail }) => detail).join('\n')}
      data-testid="archive-warning"
      data-code={warnings[0].code}
    >
      <Dot tone="warn" />
      <span>{strings.connection.archiveWarning(warnings[0].code, warnings.length - 1)}</span>
    </div>
  );
}
