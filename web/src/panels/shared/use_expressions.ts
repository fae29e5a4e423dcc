import type { ReadonlySignal } from '@preact/signals';
import { useSame } from '../../components/use_same.ts';
import type { Plan } from '../../expressions/plan.ts';
import { plansOf } from '../../state/expressions.ts';
import { type DescribedLine, describeExpressions } from './lines.ts';

/** The expressions of a panel that can be computed: their plans and their lines. Equal ones change nothing. */
export function useExpressions(texts: readonly string[]): {
  readonly plans: ReadonlySignal<readonly Plan[]>;
  readonly lines: readonly DescribedLine[];
} {
  const plans = useSame(() => plansOf(texts));
  const lines = useSame(() => describeExpressions(texts, 0)).value;
  return { plans, lines };
}
