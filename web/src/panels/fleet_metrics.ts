import type { Schema } from '@oasis/wire';
import { metricsOfAll } from '../fleet/metrics.ts';
import { visible } from '../text/visible.ts';
import type { ShownMetric } from './fleet_rows.tsx';

/** Returns what is known of the chosen metrics. */
export function shownMetrics(paths: readonly string[], schemas: readonly Schema[]): ShownMetric[] {
  const known = new Map(metricsOfAll(schemas).map((found) => [found.path, found]));
  return paths.map((path) => {
    const found = known.get(path);
    return { path, label: visible(found?.label ?? path), metric: found?.metric };
  });
}
