import type { Metric } from '@oasis/wire';

const NEEDED = ['name', 'duration', 'id', 'parent'] as const;

/** Whether samples with these metrics are spans. */
export function areSpans(metrics: readonly Metric[]): boolean {
  return NEEDED.every((wanted) => metrics.some(({ name }) => name === wanted));
}
