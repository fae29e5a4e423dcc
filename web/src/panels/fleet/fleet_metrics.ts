import type { Metric } from '@oasis/wire';
import { keyOfChoice, type OfferedMetric, withUnit } from '../../fleet/metrics.ts';
import type { FleetMetricChoice, FleetMetricColumn } from '../../fleet/query.ts';
import { formatUnit } from '../../format/unit.ts';
import { visible } from '../../text/visible.ts';

/** What is known of a metric column. */
export interface ShownMetric {
  readonly key: string;
  readonly path: string;
  readonly name: string;
  /** As people read it; empty without one. */
  readonly unit: string;
  /** Its name, with the unit. */
  readonly label: string;
  /** Of the most common type. */
  readonly metric: Metric | undefined;
  /** The metric of each type, by the hash of its schema. */
  readonly bySchema: ReadonlyMap<string, Metric>;
  /** Instances that have it. */
  readonly instances: number;
}

const NONE: ReadonlyMap<string, Metric> = new Map();

/** Returns what is known of the chosen metrics. */
export function shownMetrics(
  chosen: readonly FleetMetricChoice[],
  offered: readonly OfferedMetric[],
): ShownMetric[] {
  const known = new Map(offered.map((found) => [keyOfChoice(found), found]));
  return chosen.map((choice) => {
    const complete = withUnit(choice, offered);
    const key = keyOfChoice(complete);
    const found = known.get(key);
    return {
      key,
      path: choice.path,
      name: visible(found?.label ?? choice.path),
      unit: formatUnit(complete.unit),
      label: labelled(found?.label ?? choice.path, complete.unit),
      metric: found?.metric,
      bySchema: found?.bySchema ?? NONE,
      instances: found?.instances ?? 0,
    };
  });
}

/** The paths that the DAC is asked for, and which of them each column shows, of which types. */
export function columnsOf(metrics: readonly ShownMetric[]): {
  readonly paths: readonly string[];
  readonly columns: readonly FleetMetricColumn[];
} {
  const paths = [...new Set(metrics.map(({ path }) => path))];
  const columns = metrics.map(({ path, bySchema }) => ({
    metric: paths.indexOf(path),
    // Before the types are known, nothing is said of units either.
    ...(bySchema.size > 0 && { schemas: [...bySchema.keys()] }),
  }));
  return { paths, columns };
}

/** A name with its unit, as in `Speed [rpm]`. */
export function labelled(label: string, unit: string | undefined): string {
  const shown = formatUnit(unit);
  return visible(label) + (shown === '' ? '' : ` [${shown}]`);
}
