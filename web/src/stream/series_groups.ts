import { joined } from '../past/joined.ts';
import type { Points } from '../past/points.ts';
import type { GapMark } from '../series/causes.ts';
import type { RowSource, Span } from '../series/columns.ts';
import type { SeriesStore } from '../series/store.ts';
import { keyOf, type Target } from '../wire/target.ts';
import type { PastPart, Source, SourceColumns } from './query.ts';
import type { Scene } from './scene.ts';

/** Series in one store. */
export interface SeriesGroup {
  readonly target: Target;
  /** Names of the series in the archive. */
  readonly names: readonly string[];
  readonly store: SeriesStore | undefined;
  readonly picked: readonly number[];
}

/** Series of a chart that are drawn from one block. */
export interface DrawnGroup extends SeriesGroup {
  readonly key: string;
  readonly names: string[];
  readonly picked: number[];
  readonly lag: number;
  readonly gaps: readonly GapMark[];
  readonly part?: SourceColumns['part'];
}

/** The part of a chart that comes from the archive. */
export interface Past {
  readonly part?: PastPart;
  /** Rows of the archive, then those in memory. */
  readonly rows?: RowSource;
  readonly gaps?: readonly GapMark[];
  readonly points?: Points;
}

/** Returns what the archive has before the oldest sample in memory, joined with the samples in memory. Times are the node's. */
export function pastOf(scene: Scene, group: SeriesGroup, variant: string, span: Span): Past {
  const { target, store, picked, names } = group;
  const watch = scene.watch(target);
  // The answers for an instance that is not watched would never be dropped.
  if (!watch) return {};
  const remembered = watch.memory?.store.reach;
  const oldest = remembered?.oldest ?? Number.POSITIVE_INFINITY;
  if (span.from >= oldest) return {};
  const to = Math.min(span.to, oldest);
  const columns = Math.max(1, (span.columns * (to - span.from)) / (span.to - span.from));
  const request = { from: span.from, to, columns, remembered };
  const { points, state } = scene.archive.read(scene.view, target, variant, request, scene.now);
  if (state === 'none') return {};
  const part = { state, ...(points && { level: points.level }) };
  if (!points) return { part };
  return {
    part,
    rows: joined(points, names, store && { store, picked, oldest }),
    gaps: scene.explain(
      target,
      points.gaps.filter((gap) => gap.from < oldest),
    ),
    points,
  };
}

/** Groups the metrics of a source by store, in the order of the source; each element of a pattern has a group of its own. */
export function groupsOf(scene: Scene, { target, metrics }: Source): DrawnGroup[] {
  const memory = scene.watch(target)?.memory;
  const lag = scene.lag(target.node);
  const common = { key: keyOf(target), target, lag, gaps: gapsIn(scene, target) };
  const found: DrawnGroup[] = [];
  for (const metric of metrics) {
    const parts = memory?.partsOf(metric);
    const series = memory?.seriesOf(metric) ?? -1;
    const last = found.at(-1);
    if (parts?.length === 0 && !metric.includes('[]')) {
      // No sample of the struct is in memory; the archive may have some.
      found.push({ ...archivedGroup(scene, target, metric), part: { pattern: metric, label: '' } });
    } else if (parts) {
      for (const { label, store } of parts)
        found.push({
          ...common,
          names: [metric.replace('[]', `[${label}]`)],
          store,
          picked: [0],
          part: { pattern: metric, label },
        });
    } else if (series < 0) {
      found.push({ ...common, names: [metric], store: undefined, picked: [0] });
    } else if (last?.store === memory?.store) {
      last?.picked.push(series);
      last?.names.push(metric);
    } else {
      found.push({ ...common, names: [metric], store: memory?.store, picked: [series] });
    }
  }
  return found;
}

/** Returns the group of a series that only the archive has. */
export function archivedGroup(scene: Scene, target: Target, name: string): DrawnGroup {
  const lag = scene.lag(target.node);
  const gaps = gapsIn(scene, target);
  return { key: keyOf(target), target, lag, gaps, names: [name], store: undefined, picked: [0] };
}

/** Returns the gaps in memory of an instance, and the time since its newest sample if it is silent; by the node's clock. */
export function gapsIn(scene: Scene, target: Target): readonly GapMark[] {
  const watch = scene.watch(target);
  const known = scene.explain(target, watch?.memory?.gaps ?? []);
  const lasting = watch?.lastingGap(scene.now, scene.lag(target.node), scene.archive.timesOf(target)?.newest);
  return lasting ? [...known, lasting] : known;
}

export function gapsOf(gaps: readonly GapMark[], lag: number, from: number, to: number): GapMark[] {
  return gaps
    .filter((gap) => gap.to + lag >= from && gap.from + lag <= to)
    .map((gap) => ({ ...gap, from: gap.from + lag, to: gap.to + lag }));
}
