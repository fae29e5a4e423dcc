import { effect, signal } from '@preact/signals';
import { fetchJson } from '../api/api.ts';
import { isFields, listOf } from '../wire/fields.ts';
import { reread } from './reread.ts';
import { isConnected } from './store.ts';

/** A part of the DAC that does not work (health.md). */
export interface HealthProblem {
  /** The thread or handler. */
  readonly part: string;
  /** One sentence. */
  readonly reason: string;
}

/** Empty while all parts of the DAC work. They stay as they were while the DAC does not answer. */
export const healthProblems = signal<readonly HealthProblem[]>([]);

const REREAD_MS = 5000;
const MAX_PROBLEMS = 100;

/** Keeps {@link healthProblems} up to date while the page is connected. */
export function followHealth(): void {
  effect(() => {
    if (!isConnected.value) return;
    return reread(async (signal) => {
      const answer = await fetchJson('GET', 'health', { signal }).catch(() => undefined);
      if (answer !== undefined) healthProblems.value = problemsIn(answer);
    }, REREAD_MS);
  });
}

/** The problems of all parts but the archive, whose state has a warning of its own. */
export function problemsBesides(
  hasArchiveTrouble: boolean,
  problems: readonly HealthProblem[],
): readonly HealthProblem[] {
  return hasArchiveTrouble ? problems.filter(({ part }) => part !== 'archive') : problems;
}

function problemsIn(answer: unknown): readonly HealthProblem[] {
  if (!isFields(answer)) return [];
  return listOf(answer.reasons)
    .slice(0, MAX_PROBLEMS)
    .flatMap(({ part, reason }) =>
      typeof part === 'string' && typeof reason === 'string' ? [{ part, reason }] : [],
    );
}
