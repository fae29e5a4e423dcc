import { Dot } from '../components/dot.tsx';
import { archiveTrouble, archiveWarnings } from '../state/archive_condition.ts';
import { healthProblems, problemsBesides } from '../state/dac_health.ts';
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

/** A warning while parts of the DAC do not work. */
export function HealthWarning() {
  const problems = problemsBesides(archiveTrouble.value !== undefined, healthProblems.value);
  if (problems.length === 0) return null;
  return (
    <div
      class="pill pill-bad archive-trouble"
      role="alert"
      title={problems.map(({ reason }) => reason).join('\n')}
      data-testid="health-warning"
    >
      <Dot tone="bad" />
      <span>{strings.connection.healthProblem(problems[0].reason, problems.length - 1)}</span>
    </div>
  );
}
