import { Dot } from '../components/dot.tsx';
import { archiveTrouble } from '../state/archive_condition.ts';
import { healthProblems, problemsBesides } from '../state/dac_health.ts';
import { strings } from '../strings/strings.ts';

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
