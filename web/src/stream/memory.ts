import { type Batch, isBlob, isStruct, isVector, type Metric, type Schema, type Value } from '@oasis/wire';
import type { GapCause, GapMark } from '../series/causes.ts';
import { Frames } from '../series/frames.ts';
import { PartStores, partsOf } from '../series/parts.ts';
import { Records } from '../series/records.ts';
import { StateRuns } from '../series/states.ts';
import { type Numbers, SeriesStore } from '../series/store.ts';

/** Time to remember, unless memory ends first. */
const KEEP_MS = 60 * 60 * 1000;
/** A line ends at every gap in memory; older ones would not be hatched. */
const KEPT_GAPS = 4096;
/** If the node's clock steps back further than this, the numbers in memory are dropped. */
const STEP_MS = 1000;

/** A sample of a batch that does not continue the line of those before. */
export interface Interrupted {
  /** Index of the sample. */
  readonly at: number;
  readonly cause: GapCause;
  readonly count: number;
}

/** Samples of one instance in memory: numbers, states and lists, by the node's clock in milliseconds. */
export class Memory {
  store: SeriesStore;
  readonly states = new Map<string, StateRuns>();
  readonly records: Records | undefined;
  /** Images, by the name of their metric. */
  readonly frames = new Map<string, Frames>();
  /** Numbers within vectors and structs, by the index of the metric. */
  private readonly parts = new Map<number, PartStores>();
  gaps: readonly GapMark[] = [];
  /** Grows with each change, so that readers can detect one. */
  version = 0;

  /** Indices of the numeric metrics, in the order of the store's series. */
  private readonly numeric: readonly number[];
  private readonly names: readonly string[];

  constructor(private readonly schema: Schema) {
    const { metrics } = schema;
    this.numeric = metrics.flatMap((metric, index) => (isNumber(metric) ? [index] : []));
    this.names = this.numeric.map((index) => metrics[index].name);
    for (const metric of metrics) if (isState(metric)) this.states.set(metric.name, new StateRuns());
    metrics.forEach((metric, index) => {
      if (partsOf(metric).length > 0) this.parts.set(index, new PartStores(metric, KEEP_MS));
    });
    for (const { name, type } of metrics)
      if (isBlob(type)) this.frames.set(name, new Frames(type.blob.media_type));
    this.records = metrics.some(isListed) ? new Records() : undefined;
    this.store = this.empty();
  }

  /** Returns the store's series of a metric; -1 if the metric is not a number. */
  seriesOf(metric: string): number {
    return this.names.indexOf(metric);
  }

  /** Returns the present elements of a pattern such as `axes[].position`; undefined for anything else. */
  partsOf(pattern: string): readonly { readonly label: string; readonly store: SeriesStore }[] | undefined {
    for (const parts of this.parts.values()) if (parts.has(pattern)) return parts.of(pattern);
    return undefined;
  }

  get series(): readonly string[] {
    return this.names;
  }

  /** Appends the samples from `skip` on. `interrupted` counts from there. */
  add(batch: Batch, times: Float64Array, skip: number, interrupted: readonly Interrupted[]): void {
    if (skip >= times.length) return;
    const newest = this.store.newest;
    if (newest !== undefined && times[times.length - 1] < newest - STEP_MS) {
      this.store = this.empty();
      for (const frames of this.frames.values()) frames.clear();
    }
    let from = skip;
    for (const { at, cause, count } of interrupted) {
      this.append(batch, times, from, skip + at);
      from = skip + at;
      const before = from > skip ? times[from - 1] : newest;
      if (before !== undefined)
        this.interrupt({ from: before, to: Math.max(before, times[from]), cause, count });
    }
    this.append(batch, times, from, times.length);
    this.version++;
  }

  /** Appends the images of the samples from `skip` on. */
  addFrames(batch: Batch, times: Float64Array, skip: number): void {
    this.schema.metrics.forEach(({ name }, index) => {
      const frames = this.frames.get(name);
      if (!frames) return;
      const values = batch.metrics[index] as ArrayLike<Value | undefined>;
      for (let at = Math.max(0, skip); at < times.length; at++) {
        const bytes = values[at];
        if (bytes instanceof Uint8Array) frames.add(Number(batch.firstSequence) + at, times[at], bytes);
      }
    });
  }

  /** Appends the samples in `[from, to)`. */
  private append(batch: Batch, times: Float64Array, from: number, to: number): void {
    if (from >= to) return;
    const isWhole = from === 0 && to === times.length;
    const cut = <T extends { readonly length: number }>(column: T): T =>
      isWhole ? column : ((column as unknown as { slice(from: number, to: number): T }).slice(from, to) as T);
    const fresh = cut(times);
    this.store.append(
      fresh,
      this.numeric.map((index) => cut(batch.metrics[index] as Numbers)),
    );
    this.schema.metrics.forEach((metric, index) => {
      this.states.get(metric.name)?.add(fresh, cut(batch.metrics[index]), metric.type === 'boolean');
    });
    for (const [index, parts] of this.parts) parts.add(fresh, cut(batch.metrics[index] as readonly Value[]));
    this.records?.add(Number(batch.firstSequence) + from, fresh, batch.metrics.map(cut));
  }

  private interrupt(gap: GapMark): void {
    this.store.break();
    for (const runs of this.states.values()) runs.break();
    for (const parts of this.parts.values()) parts.break();
    this.gaps = [...this.gaps, gap].slice(-KEPT_GAPS);
  }

  private empty(): SeriesStore {
    return new SeriesStore(this.numeric.length, KEEP_MS);
  }
}

function isNumber({ type }: Metric): boolean {
  return typeof type === 'string' && type !== 'string';
}

function isState({ type, kind, enum: names }: Metric): boolean {
  if (isVector(type) || isStruct(type) || isBlob(type)) return false;
  return type === 'boolean' || type === 'string' || names !== undefined || kind === 'state';
}

/** Whether the values of a metric are listed one by one. */
function isListed({ type, kind }: Metric): boolean {
  return kind === 'event' || type === 'string';
}
