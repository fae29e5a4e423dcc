import type { ArchiveReader } from '../past/archive_reader.ts';
import { joined } from '../past/joined.ts';
import { blockRoom, type RowSource, reduceColumns, type Span } from '../series/columns.ts';
import { histogram } from '../series/histogram.ts';
import { rose } from '../series/rose.ts';
import type { SeriesStore } from '../series/store.ts';
import type {
  Answer,
  Extents,
  GapMark,
  PastPart,
  Query,
  Source,
  SourceColumns,
  ViewResult,
} from './query.ts';
import { keyOf, type Target } from './view.ts';
import type { Watch } from './watch.ts';

/** Charts are drawn at most so often: enough for the eye, and it leaves the page time for everything else. */
const CHART_MS = 33;
const LIST_MS = 200;
/** Classes of wind speed: Beaufort's 2, 3, 4, 5, 6 and 7 begin here (m/s). */
const WIND_BOUNDS = [1.6, 3.4, 5.5, 8, 10.8, 13.9];
const SPARE_BUFFERS = 16;

/** Looks up what is watched, and how far its node's clock is from ours. */
export interface Lookup {
  watch(target: Target): Watch | undefined;
  /** Browser clock minus node clock, milliseconds. */
  lag(node: string): number;
  readonly archive: Pick<ArchiveReader, 'read' | 'leave' | 'version'>;
}

/** Series that lie in one store. */
interface Stretch {
  readonly key: string;
  readonly target: Target;
  /** By name, as the archive has them. */
  readonly names: string[];
  readonly store: SeriesStore | undefined;
  readonly picked: number[];
  readonly lag: number;
  readonly gaps: readonly GapMark[];
  readonly part?: SourceColumns['part'];
}

/** What a chart gets from the archive. */
interface Past {
  readonly part?: PastPart;
  /** The past, and what is remembered behind it. */
  readonly rows?: RowSource;
  readonly gaps?: readonly GapMark[];
}

interface View {
  query: Query;
  /** When it was last answered. */
  at: number;
  /** Of what it shows, when it was last answered. */
  version: number;
}

/** What the panels show: each is answered anew when what it shows has changed, and no more often than can be seen. */
export class Views {
  private readonly views = new Map<number, View>();
  private spare: ArrayBuffer[] = [];

  constructor(private readonly lookup: Lookup) {}

  show(id: number, query: Query): void {
    this.views.set(id, { query, at: Number.NEGATIVE_INFINITY, version: -1 });
  }

  hide(id: number): void {
    this.views.delete(id);
    this.lookup.archive.leave(id);
  }

  /** Takes back what the page has drawn. */
  reuse(buffers: readonly ArrayBuffer[]): void {
    this.spare.push(...buffers);
    if (this.spare.length > SPARE_BUFFERS) this.spare.length = SPARE_BUFFERS;
  }

  /** When the next view wants to be answered; none does while nothing is shown. */
  nextDue(): number {
    let due = Number.POSITIVE_INFINITY;
    for (const view of this.views.values()) due = Math.min(due, view.at + pause(view.query));
    return due;
  }

  /** Answers of the views that have something new to show. */
  drain(now: number): ViewResult[] {
    const results: ViewResult[] = [];
    for (const [id, view] of this.views) {
      if (now - view.at < pause(view.query)) continue;
      const version = this.versionOf(view.query);
      view.at = now;
      if (!view.query.range.live && version === view.version) continue;
      view.version = version;
      const [from, to] = bounds(view.query, now);
      results.push({ id, from, to, answer: this.answer(id, view.query, from, to, now) });
    }
    return results;
  }

  private versionOf(query: Query): number {
    return targetsOf(query).reduce(
      (sum, target) => sum + (this.lookup.watch(target)?.memory?.version ?? 0),
      query.kind === 'columns' ? this.lookup.archive.version : 0,
    );
  }

  private answer(id: number, query: Query, from: number, to: number, now: number): Answer {
    switch (query.kind) {
      case 'columns':
        return this.columns(id, query, from, to, now);
      case 'states':
        return this.states(query, from, to);
      case 'histogram':
        return { kind: 'histogram', histogram: this.histogram(query, from, to) };
      case 'rose':
        return { kind: 'rose', rose: this.rose(query, from, to) };
      case 'records':
        return this.records(query, from, to);
      case 'extent':
        return { kind: 'extent', extents: this.extents(query.target, from, to) };
    }
  }

  private columns(
    id: number,
    query: Query & { kind: 'columns' },
    from: number,
    to: number,
    now: number,
  ): Answer {
    const { columns } = query;
    const wanted = query.sources.flatMap((source) => this.stretches(source));
    const room = wanted.reduce((sum, { picked }) => sum + blockRoom(columns, picked.length), 0);
    const buffer = this.buffer(room);
    const blocks: SourceColumns[] = [];
    let offset = 0;
    for (const stretch of wanted) {
      const { key, store, picked, lag, gaps, part } = stretch;
      const span = { from: from - lag, to: to - lag, columns };
      const past = this.past(id, stretch, query.ago ?? 0, span, now);
      const block = past.rows
        ? reduceColumns(
            past.rows,
            picked.map((_, index) => index),
            { from, to, columns },
            lag,
            buffer,
            offset,
          )
        : store
          ? reduceColumns(store, picked, { from, to, columns }, lag, buffer, offset)
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
    return { kind: 'columns', buffer, blocks };
  }

  /** What the archive has before the oldest sample that is remembered, and that behind it. Times are the node's. */
  private past(id: number, stretch: Stretch, ago: number, span: Span, now: number): Past {
    const { target, store, picked, names } = stretch;
    const watch = this.lookup.watch(target);
    // Nobody would forget what is read of it.
    if (!watch) return {};
    const oldest = watch.memory?.store.oldest ?? Number.POSITIVE_INFINITY;
    if (span.from >= oldest) return {};
    const to = Math.min(span.to, oldest);
    const columns = Math.max(1, (span.columns * (to - span.from)) / (span.to - span.from));
    const { points, state } = this.lookup.archive.read(
      id,
      target,
      ago,
      { from: span.from, to, columns },
      now,
    );
    if (state === 'none') return {};
    const part = { state, ...(points && { level: points.level }) };
    if (!points) return { part };
    return {
      part,
      rows: joined(points, names, store && { store, picked, oldest }),
      gaps: points.gaps.filter((gap) => gap.from < oldest),
    };
  }

  /** Metrics of a source that one store has, in the order of the source; each element of a pattern has its own. */
  private stretches({ target, metrics }: Source): Stretch[] {
    const memory = this.lookup.watch(target)?.memory;
    const lag = this.lookup.lag(target.node);
    const common = { key: keyOf(target), target, lag, gaps: memory?.gaps ?? [] };
    const found: Stretch[] = [];
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

  private states(query: Query & { kind: 'states' }, from: number, to: number): Answer {
    const tracks = query.sources.flatMap(({ target, metrics }) => {
      const lag = this.lookup.lag(target.node);
      const memory = this.lookup.watch(target)?.memory;
      return metrics.map((metric) => ({
        key: keyOf(target),
        metric,
        runs: (memory?.states.get(metric)?.between(from - lag, to - lag) ?? []).map((run) => ({
          ...run,
          from: run.from + lag,
          to: run.to + lag,
        })),
      }));
    });
    return { kind: 'states', tracks };
  }

  private histogram(query: Query & { kind: 'histogram' }, from: number, to: number) {
    const { target, metrics } = query.source;
    const memory = this.lookup.watch(target)?.memory;
    if (!memory) return undefined;
    const series = memory.seriesOf(metrics[0] ?? '');
    if (query.of === 'values' && series < 0) return undefined;
    const lag = this.lookup.lag(target.node);
    const of = query.of === 'intervals' ? query.of : { series };
    return histogram(memory.store, of, from - lag, to - lag, query.bins);
  }

  private rose(query: Query & { kind: 'rose' }, from: number, to: number) {
    const memory = this.lookup.watch(query.target)?.memory;
    const direction = memory?.seriesOf(query.direction) ?? -1;
    const speed = memory?.seriesOf(query.speed) ?? -1;
    if (!memory || direction < 0 || speed < 0) return undefined;
    const lag = this.lookup.lag(query.target.node);
    return rose(memory.store, direction, speed, WIND_BOUNDS, from - lag, to - lag);
  }

  private records(query: Query & { kind: 'records' }, from: number, to: number): Answer {
    const lines = query.targets.flatMap((target) => {
      const lag = this.lookup.lag(target.node);
      const key = keyOf(target);
      const rows =
        this.lookup.watch(target)?.memory?.records?.between(from - lag, to - lag, query.limit) ?? [];
      return rows.map((row) => ({ ...row, key, time: row.time + lag }));
    });
    lines.sort((a, b) => b.time - a.time);
    return { kind: 'records', lines: lines.slice(0, query.limit) };
  }

  private extents(target: Target, from: number, to: number): Extents {
    const memory = this.lookup.watch(target)?.memory;
    if (!memory) return {};
    const lag = this.lookup.lag(target.node);
    const names = memory.series;
    const extents = names.map((): [number, number] => [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
    memory.store.visit(from - lag, to - lag, 512, (tier, slot) => {
      if (tier.end[slot] < from - lag || tier.start[slot] > to - lag) return;
      for (let series = 0; series < extents.length; series++) {
        const extent = extents[series];
        if (tier.min[series][slot] < extent[0]) extent[0] = tier.min[series][slot];
        if (tier.max[series][slot] > extent[1]) extent[1] = tier.max[series][slot];
      }
    });
    return Object.fromEntries(names.map((name, index) => [name, extents[index]]));
  }

  private buffer(room: number): Float64Array<ArrayBuffer> {
    const found = this.spare.findIndex((buffer) => buffer.byteLength >= 8 * room);
    if (found < 0) return new Float64Array(room);
    return new Float64Array(this.spare.splice(found, 1)[0]);
  }
}

function pause(query: Query): number {
  return query.kind === 'columns' ? CHART_MS : LIST_MS;
}

function targetsOf(query: Query): readonly Target[] {
  switch (query.kind) {
    case 'columns':
    case 'states':
      return query.sources.map(({ target }) => target);
    case 'histogram':
      return [query.source.target];
    case 'records':
      return query.targets;
    default:
      return [query.target];
  }
}

/** A live range ends at a whole column, so that what is drawn moves by whole columns. */
function bounds({ range, ago = 0, ...query }: Query, now: number): [number, number] {
  if (!range.live) return [range.from - ago, range.to - ago];
  const width = query.kind === 'columns' ? range.span / query.columns : 1;
  const to = Math.ceil(now / width) * width - ago;
  return [to - range.span, to];
}

function gapsOf(gaps: readonly GapMark[], lag: number, from: number, to: number): GapMark[] {
  return gaps
    .filter((gap) => gap.to + lag >= from && gap.from + lag <= to)
    .map((gap) => ({ ...gap, from: gap.from + lag, to: gap.to + lag }));
}
