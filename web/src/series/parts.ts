import { isStruct, isVector, type Metric, type MetricType, type Value } from '@oasis/wire';
import { SeriesStore } from './store.ts';

/** Numbers within vectors and structs are named by a pattern: `axes[].position`, `loads[]`, `pose.x`. */
export interface PartMetric {
  readonly pattern: string;
  /** Says unit, kind and what the numbers mean. */
  readonly metric: Metric;
}

/** More elements of a vector are not remembered. */
const MOST = 64;
/** An element that was not there for so long makes room for a new one. */
const FORGET_MS = 60_000;

/** The numbers that samples of a metric have within, however many elements its vectors have. */
export function partsOf(metric: Metric): PartMetric[] {
  const { type, name } = metric;
  if (isVector(type)) {
    if (isNumber(type.vector)) return [{ pattern: `${name}[]`, metric: { ...metric, type: type.vector } }];
    return isStruct(type.vector) ? members(type.vector.struct.members, `${name}[].`) : [];
  }
  return isStruct(type) ? members(type.struct.members, `${name}.`) : [];
}

function members(found: readonly Metric[], prefix: string): PartMetric[] {
  return found
    .filter(({ type, kind }) => isNumber(type) && kind !== 'state')
    .map((member) => ({ pattern: prefix + member.name, metric: member }));
}

function isNumber(type: MetricType): boolean {
  return typeof type === 'string' && type !== 'string' && type !== 'boolean';
}

interface Part {
  readonly label: string;
  readonly store: SeriesStore;
}

/** What is remembered of the numbers within one metric, element by element: by name where elements have one. */
export class PartStores {
  private readonly stores = new Map<string, Map<string, Part>>();
  private readonly patterns: readonly string[];

  constructor(
    private readonly metric: Metric,
    private readonly keepMs: number,
  ) {
    this.patterns = partsOf(metric).map(({ pattern }) => pattern);
    for (const pattern of this.patterns) this.stores.set(pattern, new Map());
  }

  has(pattern: string): boolean {
    return this.stores.has(pattern);
  }

  /** The elements of a pattern, each with its own samples. */
  of(pattern: string): readonly Part[] {
    return [...(this.stores.get(pattern)?.values() ?? [])];
  }

  add(times: Float64Array, values: ArrayLike<Value>): void {
    for (let index = 0; index < times.length; index++) this.sample(times[index], values[index]);
  }

  break(): void {
    for (const parts of this.stores.values()) for (const { store } of parts.values()) store.break();
  }

  private sample(time: number, value: Value): void {
    const { type, name } = this.metric;
    if (!Array.isArray(value)) return;
    if (isStruct(type)) {
      this.struct(time, value, type.struct.members, `${name}.`, '');
    } else if (isVector(type) && isStruct(type.vector)) {
      const { members: within } = type.vector.struct;
      // What it is called, and what else tells it from others of that name.
      const naming = within.flatMap(({ type: of, kind }, index) =>
        of === 'string' || kind === 'state' ? [index] : [],
      );
      value.slice(0, MOST).forEach((element, index) => {
        if (!Array.isArray(element)) return;
        const label = naming.length === 0 ? String(index) : naming.map((member) => element[member]).join(' ');
        this.struct(time, element, within, `${name}[].`, label);
      });
    } else {
      value.slice(0, MOST).forEach((element, index) => {
        this.number(time, element, `${name}[]`, String(index));
      });
    }
  }

  private struct(
    time: number,
    values: readonly Value[],
    within: readonly Metric[],
    prefix: string,
    label: string,
  ): void {
    within.forEach((member, index) => {
      this.number(time, values[index], prefix + member.name, label);
    });
  }

  private number(time: number, value: Value, pattern: string, label: string): void {
    const parts = this.stores.get(pattern);
    if (!parts) return;
    let part = parts.get(label);
    if (!part) {
      if (parts.size >= MOST && !forgetOne(parts, time - FORGET_MS)) return;
      part = { label, store: new SeriesStore(1, this.keepMs) };
      parts.set(label, part);
    }
    // Two elements of one name at one time: the second would draw a step that was not there.
    if (part.store.newest === time) return;
    part.store.append(Float64Array.of(time), [[Number(value)]]);
  }
}

/** Forgets the element that has been away for longest, if that is before a time. */
function forgetOne(parts: Map<string, Part>, before: number): boolean {
  let oldest: Part | undefined;
  for (const part of parts.values()) {
    if (!oldest || (part.store.newest ?? 0) < (oldest.store.newest ?? 0)) oldest = part;
  }
  return oldest !== undefined && (oldest.store.newest ?? 0) < before && parts.delete(oldest.label);
}
