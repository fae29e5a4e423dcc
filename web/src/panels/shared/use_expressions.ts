import { type ReadonlySignal, useComputed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Plan } from '../../expressions/plan.ts';
import { plansOf } from '../../state/expressions.ts';
import { type DescribedLine, describeExpressions } from './lines.ts';

/** The expressions of a panel that can be computed: their plans, as text so that equal ones change nothing, and their lines. */
export function useExpressions(texts: readonly string[]): {
  readonly plans: ReadonlySignal<string>;
  readonly lines: readonly DescribedLine[];
} {
  const plans = useComputed(() => JSON.stringify(plansOf(texts)));
  const described = useComputed(() => JSON.stringify(describeExpressions(texts, 0))).value;
  const lines = useMemo(() => JSON.parse(described) as DescribedLine[], [described]);
  return { plans, lines };
}

export function parsePlans(plans: ReadonlySignal<string>): Plan[] {
  return JSON.parse(plans.value) as Plan[];
}
