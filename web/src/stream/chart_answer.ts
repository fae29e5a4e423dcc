import { joined } from '../past/joined.ts';
import { blockRoom, type RowSource, reduceColumns, type Span } from '../series/columns.ts';
import type { SeriesStore } from '../series/store.ts';
import type { Answer, Extents, GapMark, PastPart, Query, Source, SourceColumns } from './query.ts';
import type { Scene } from './scene.ts';
import { keyOf, type Target } from './view.ts';

/** Steps that are enough for the minimum and maximum of a time span. */
const EXTENT_COLUMNS = 200;

/** Series in one store. */
interface SeriesGroup {
  readonly target: Target;
  /** Names of the series in the archive. */
  readonly names: readonly string[];
  readonly store: SeriesStore | undefined;
  readonly picked: readonly number[];
}

/** Series of a chart that are drawn from one block. */
interface DrawnGroup extends SeriesGroup {
  readonly key: string;
  readonly names: string[];
  readonly picked: number[];
  readonly lag: number;
  readonly gaps: readonly GapMark[];
  readonly part?: SourceColumns['part'];
}

/** The part of a chart that comes from the archive. */
interface Past {
  readonly part?: PastPart;
  /** Rows of the archive, then those in memory. */
  readonly rows?: RowSource;
  readonly gaps?: readonly GapMark[];
}

/** Returns numbers over time; `buffer` returns a buffer with room for the given count of numbers. */
export function columnsAnswer(
  scene: Scene,
  query: Query & { kind: 'columns' },
  buffer: (room: number) => Float64Array<ArrayBuffer>,
): Answer {
  const { columns } = query;
  const { from, to } = scene;
  const groups = query.sources.flatMap((source) => groupsOf(scene, source));
  const room = groups.reduce((sum, { picked }) => sum + blockRoom(columns, picked.length), 0);
  const into = buffer(room);
  const blocks: SourceColumns[] = [];
  let offset = 0;
  for (const group of groups) {
    const { key, store, picked, lag, gaps, part } = group;
    const span = { from: from - lag, to: to - lag, columns };
    const past = pastOf(scene, group, String(query.ago ?? 0), span);
    const series = past.rows ? picked.map((_, index) => index) : picked;
    const rows = past.rows ?? store;
    const block = rows
      ? reduceColumns(rows, series, { from, to, columns }, lag, into, offset)
      : { offset, count: 0, series: picked.length };
    const all = past.gaps ? [...past.gaps, ...gaps] : gaps;
    blocks.push({
      ...block,
      key,
      gaps: gapsOf(all, lag, from, to),
      ...(part && { part }),
      ...(past.part && { past: past.part }),
    });
    offset += blockRoom(columns, picked.length);
  }
  return { kind: 'columns', buffer: into, blocks };
}

/** Returns the minimum and maximum of each numeric metric. */
export function extentsOf(scene: Scene, target: Target): Extents {
  const memory = scene.watch(target)?.memory;
  if (!memory) return {};
  const { store, series: names } = memory;
  const lag = scene.lag(target.node);
  const span = { from: scene.from - lag, to: scene.to - lag, columns: EXTENT_COLUMNS };
  const picked = names.map((_, index) => index);
  const past = pastOf(scene, { target, names, store, picked }, '0', span);
  const extents = names.map((): [number, number] => [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
  (past.rows ?? store).visit(span.from, span.to, 512, (table, row) => {
    if (table.end[row] < span.from || table.start[row] > span.to) return;
    for (let series = 0; series < extents.length; series++) {
      const extent = extents[series];
      if (table.min[series][row] < extent[0]) extent[0] = table.min[series][row];
      if (table.max[series][row] > extent[1]) extent[1] = table.max[series][row];
    }
  });
  return Object.fromEntries(names.map((name, index) => [name, extents[index]]));
}

/** Returns what the archive has before the oldest sample in memory, joined with the samples in memory. Times are the node's. */
function pastOf(scene: Scene, group: SeriesGroup, variant: string, span: Span): Past {
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
    gaps: points.gaps.filter((gap) => gap.from < oldest),
  };
}

/** Groups the metrics of a source by store, in the order of the source; each element of a pattern has a group of its own. */
function groupsOf(scene: Scene, { target, metrics }: Source): DrawnGroup[] {
  const memory = scene.watch(target)?.memory;
  const lag = scene.lag(target.node);
  const common = { key: keyOf(target), target, lag, gaps: memory?.gaps ?? [] };
  const found: DrawnGroup[] = [];
  for (const metric of metrics) {
    const parts = memory?.partsOf(metric);
    const series = memory?.seriesOf(metric) ?? -1;
    const last = found.at(-1);
    if (parts) {
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

function gapsOf(gaps: readonly GapMark[], lag: number, from: number, to: number): GapMark[] {
  return gaps
    .filter((gap) => gap.to + lag >= from && gap.from + lag <= to)
    .map((gap) => ({ ...gap, from: gap.from + lag, to: gap.to + lag }));
}
