import { Dot } from '../components/dot.tsx';
import { archiveTrouble } from '../state/archive_condition.ts';
import { strings } from '../strings/strings.ts';

/** A warning while the archive stores nothing. */
export function ArchiveTrouble() {
  const trouble = archiveTrouble.value;
  if (!trouble) return null;
  const { condition, detail } = trouble;
  return (
    <div
      class="pill pill-bad archive-trouble"
      role="alert"
      title={detail}
      data-testid="archive-trouble"
      data-condition={condition}
    >
      <Dot tone="bad" />
      <span>{strings.connection.archiveTrouble(condition)}</span>
    </div>
  );
}
