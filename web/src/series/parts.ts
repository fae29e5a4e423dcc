import { isStruct, isVector, type Metric, type MetricType, type Schema, type Value } from '@oasis/wire';
import { SeriesStore } from './store.ts';

/** Numbers within vectors and structs, named by a pattern: `axes[].position`, `loads[]`, `pose.position.x`. */
export interface PartMetric {
  readonly pattern: string;
  /** Unit, kind and meaning of the numbers. */
  readonly metric: Metric;
}

/** Elements of a vector to remember at most. */
const MAX_ELEMENTS = 64;
/** A new element may replace one that was absent for this long. */
const FORGET_MS = 60_000;

/** Returns the numbers within a metric; a pattern covers all elements of a vector. */
export function partsOf(metric: Metric): PartMetric[] {
  const { type, name } = metric;
  if (isVector(type)) {
    if (isNumber(type.vector)) return [{ pattern: `${name}[]`, metric: { ...metric, type: type.vector } }];
    return isStruct(type.vector) ? members(type.vector.struct.members, `${name}[].`) : [];
  }
  return isStruct(type) ? members(type.struct.members, `${name}.`) : [];
}

/** Returns a metric by name, or the numbers within one by their pattern. */
export function metricAt(schema: Schema | undefined, name: string): Metric | undefined {
  for (const metric of schema?.metrics ?? []) {
    if (metric.name === name) return metric;
    const part = partsOf(metric).find(({ pattern }) => pattern === name);
    if (part) return part.metric;
  }
  return undefined;
}

/** Structs within structs too, which schemas nest at most 16 deep: `pose.position.x`. */
function members(found: readonly Metric[], prefix: string): PartMetric[] {
  return found.flatMap((member): PartMetric[] => {
    const { type, kind, name } = member;
    if (isStruct(type)) return members(type.struct.members, `${prefix}${name}.`);
    return isNumber(type) && kind !== 'state' ? [{ pattern: prefix + name, metric: member }] : [];
  });
}

function isNumber(type: MetricType): boolean {
  return typeof type === 'string' && type !== 'string' && type !== 'boolean';
}

interface Part {
  readonly label: string;
  readonly store: SeriesStore;
}

/** Remembers the numbers within one metric by element. Elements with a name are found by it. */
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

  /** Returns the elements of a pattern, each with its own samples. */
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
      // The name of an element, and states that separate elements of one name.
      const nameMembers = within.flatMap(({ type: of, kind }, index) =>
        of === 'string' || kind === 'state' ? [index] : [],
      );
      value.slice(0, MAX_ELEMENTS).forEach((element, index) => {
        if (!Array.isArray(element)) return;
        const label =
          nameMembers.length === 0 ? String(index) : nameMembers.map((member) => element[member]).join(' ');
        this.struct(time, element, within, `${name}[].`, label);
      });
    } else {
      value.slice(0, MAX_ELEMENTS).forEach((element, index) => {
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
    within.forEach(({ type, name }, index) => {
      const value = values[index];
      if (!isStruct(type)) this.number(time, value, prefix + name, label);
      else if (Array.isArray(value))
        this.struct(time, value, type.struct.members, `${prefix}${name}.`, label);
    });
  }

  private number(time: number, value: Value, pattern: string, label: string): void {
    const parts = this.stores.get(pattern);
    if (!parts) return;
    let part = parts.get(label);
    if (!part) {
      if (parts.size >= MAX_ELEMENTS && !evictOldest(parts, time - FORGET_MS)) return;
      part = { label, store: new SeriesStore(1, this.keepMs) };
      parts.set(label, part);
    }
    // A second element of the same name and time would draw a step that does not exist.
    if (part.store.newest === time) return;
    part.store.append(Float64Array.of(time), [[Number(value)]]);
  }
}

/** Removes the element that has been absent longest, if it was last seen before a time. */
function evictOldest(parts: Map<string, Part>, before: number): boolean {
  let oldest: Part | undefined;
  for (const part of parts.values()) {
    if (!oldest || (part.store.newest ?? 0) < (oldest.store.newest ?? 0)) oldest = part;
  }
  return oldest !== undefined && (oldest.store.newest ?? 0) < before && parts.delete(oldest.label);
}
