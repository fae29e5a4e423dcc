import { signal } from '@preact/signals';
import type { GapMark } from '../series/causes.ts';
import type { Target } from '../wire/target.ts';
import { openDialog } from './dialogs.ts';

/** A time without samples, once for each of its causes, and the instances that it may concern. */
export interface ExplainedGap {
  readonly gaps: readonly GapMark[];
  readonly targets: readonly Target[];
}

/** The gap that the dialog explains. */
export const explainedGap = signal<ExplainedGap | undefined>(undefined);

export function explainGap(gaps: readonly GapMark[], targets: readonly Target[]): void {
  explainedGap.value = { gaps, targets };
  openDialog.value = 'gap';
}
