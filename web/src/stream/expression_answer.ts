import { evaluate } from '../expressions/evaluate.ts';
import type { Plan, PlanInput } from '../expressions/plan.ts';
import type { Signal } from '../expressions/signal.ts';
import type { GapMark } from '../series/causes.ts';
import { greatestIn, leastIn, type RowSource, type RowTable } from '../series/columns.ts';
import { LATE_FACTOR, SLACK_MS } from '../series/pace.ts';
import { type Extreme, rawSince } from '../series/raw_samples.ts';
import { keyOf } from '../wire/target.ts';
import type { PastPart } from './query.ts';
import type { Scene } from './scene.ts';
import { archivedGroup, type DrawnGroup, gapsOf, groupsOf, type Past, pastOf } from './series_groups.ts';
import type { Watch } from './watch.ts';

/** Rows that an expression reads at most; of a longer time it reads the last sample of each step. */
const MAX_ROWS = 32_768;
/** Times without a value that are marked at most. */
const MAX_UNKNOWN = 500;

/** The values of an expression in the time shown, by the browser's clock. */
export interface Computed {
  readonly rows: RowSource;
  readonly signal: Signal;
  readonly gaps: readonly GapMark[];
  readonly past?: PastPart;
  /** Minimum and maximum of all samples in the time shown, if the expression is one metric. */
  readonly extreme?: Extreme;
}

/** The series of an input, and what the archive has of them. */
interface Read {
  readonly signals: readonly Signal[];
  readonly names: readonly string[];
  /** Minimum and maximum of each, in the time shown. */
  readonly extremes: readonly Extreme[];
  readonly gaps: readonly GapMark[];
  readonly past?: PastPart;
  /** Mean time between two rows, if these are not single samples. */
  readonly step?: number;
}

/** Computes an expression from memory and archive. `variant` separates several ranges of one view. */
export function computedRows(
  scene: Scene,
  plan: Plan,
  variant: string,
  columns: number,
  { rows: most, isSingle = false }: { readonly rows: number; readonly isSingle?: boolean } = {
    rows: MAX_ROWS,
  },
): Computed {
  const instances = new Set(plan.inputs.map(({ target }) => keyOf(target))).size;
  const reads = new Map<string, readonly Read[]>();
  const signals = plan.inputs.map((input) => {
    const key = keyOf(input.target) + (input.element === undefined ? '' : input.metric);
    let read = reads.get(key);
    if (!read) {
      const groups = groupsFor(scene, plan, input);
      const rows = isSingle ? most : Math.floor(most / instances);
      read = groups.map((group) =>
        readGroup(scene, group, plan.before, { variant, columns, rows, isSingle }),
      );
      reads.set(key, read);
    }
    return signalOf(read, input);
  });
  const found = [...reads.values()].flat();
  const signal = evaluate(plan.root, signals);
  const inputGaps = found.flatMap(({ gaps }) => gaps).sort((one, other) => one.from - other.from);
  const past = worstPast(found);
  const extreme = plan.root.op === 'input' ? extremeOf(found, plan.inputs[plan.root.index]) : undefined;
  return {
    rows: rowsOf(signal),
    signal,
    gaps: [...inputGaps, ...unknownIn(signal, inputGaps)],
    ...(past && { past }),
    ...(extreme && { extreme }),
  };
}

/** Returns the groups that an input is read from; elements that are not in memory are read from the archive. */
function groupsFor(scene: Scene, plan: Plan, input: PlanInput): DrawnGroup[] {
  const { target, metric, element } = input;
  const groups = groupsOf(scene, { target, metrics: metricsLike(plan, input) });
  if (element === undefined) return groups;
  const alike = plan.inputs.filter(
    (other) => other.metric === metric && keyOf(other.target) === keyOf(target),
  );
  const absent = new Set(alike.map(nameOf));
  for (const { names } of groups) for (const name of names) absent.delete(name);
  return [...groups, ...[...absent].map((name) => archivedGroup(scene, target, name))];
}

/** Returns the name of the series of an input. */
function nameOf({ metric, element }: PlanInput): string {
  return element === undefined ? metric : metric.replace('[]', `[${element}]`);
}

/** The metrics that lie in one store with an input. */
function metricsLike({ inputs }: Plan, { target, metric, element }: PlanInput): string[] {
  if (element !== undefined) return [metric];
  const alike = inputs.filter(
    (other) => other.element === undefined && keyOf(other.target) === keyOf(target),
  );
  return alike.map((other) => other.metric);
}

function signalOf(reads: readonly Read[], input: PlanInput): Signal {
  const [read, index] = placeOf(reads, input) ?? [];
  // Without samples there are names alone.
  return read?.signals[index ?? 0] ?? NOTHING;
}

function extremeOf(reads: readonly Read[], input: PlanInput): Extreme | undefined {
  const [read, index] = placeOf(reads, input) ?? [];
  return read?.extremes[index ?? 0];
}

function placeOf(reads: readonly Read[], input: PlanInput): [Read, number] | undefined {
  const name = nameOf(input);
  const read = reads.find(({ names }) => names.includes(name));
  return read && [read, read.names.indexOf(name)];
}

const NOTHING: Signal = {
  times: new Float64Array(),
  values: new Float64Array(),
  breaks: new Uint8Array(),
  maxAge: 0,
  until: 0,
};

/** How much is read. */
interface Reading {
  readonly variant: string;
  readonly columns: number;
  readonly rows: number;
  /** Whether only single samples are wanted, from where there are any. */
  readonly isSingle: boolean;
}

function readGroup(scene: Scene, group: DrawnGroup, before: number, reading: Reading): Read {
  const { lag, picked, store, names, gaps } = group;
  const length = scene.to - scene.from;
  const single = (reading.isSingle && store && rawSince(store)) || Number.NEGATIVE_INFINITY;
  const wanted = scene.from - before - lag;
  const from = single < scene.to - lag ? Math.max(wanted, single) : wanted;
  const span = {
    from,
    to: scene.to - lag,
    // As wide as those of the charts, so that one request suffices for both.
    columns: (reading.columns * (length + before)) / length,
  };
  const past = pastOf(scene, group, reading.variant, span);
  const rows = past.rows ?? store;
  const series = past.rows ? picked.map((_, index) => index) : picked;
  const table = rows ? tableOf(rows, series, span, scene.from - lag, lag, reading.rows) : undefined;
  const isWhole = isSingle(past) && (store?.hasSamples(span.from, span.to, reading.rows) ?? true);
  const interval = table ? meanInterval(table.times) : 0;
  const watch = scene.watch(group.target);
  return {
    names,
    extremes: table?.extremes ?? [],
    signals: (table?.columns ?? []).map((values) => ({
      times: table?.times ?? NOTHING.times,
      breaks: table?.breaks ?? NOTHING.breaks,
      values,
      maxAge: maxAgeOf(watch, interval),
      until: untilOf(watch, table?.times.at(-1)),
    })),
    gaps: gapsOf([...(past.gaps ?? []), ...gaps], lag, scene.from, scene.to),
    ...(past.part && { past: past.part }),
    ...(!isWhole && { step: interval }),
  };
}

function tableOf(
  rows: RowSource,
  series: readonly number[],
  span: { readonly from: number; readonly to: number },
  shownFrom: number,
  lag: number,
  most: number,
) {
  const times: number[] = [];
  const breaks: number[] = [];
  const columns = series.map((): number[] => []);
  const extremes = series.map((): [number, number] => [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
  rows.visit(span.from, span.to, most, (table: RowTable, row: number) => {
    times.push(table.end[row] + lag);
    breaks.push(table.breaks[row]);
    const isShown = table.start[row] >= shownFrom && table.end[row] <= span.to;
    for (let index = 0; index < series.length; index++) {
      const at = series[index];
      columns[index].push(table.last[at][row]);
      if (!isShown) continue;
      const [least, greatest] = [leastIn(table, at, row), greatestIn(table, at, row)];
      // Comparisons with NaN are false.
      if (least < extremes[index][0]) extremes[index][0] = least;
      if (greatest > extremes[index][1]) extremes[index][1] = greatest;
    }
  });
  return {
    times: Float64Array.from(times),
    breaks: Uint8Array.from(breaks),
    extremes,
    columns: columns.map((column) => Float64Array.from(column)),
  };
}

/** Whether the points of the archive are single samples. */
function isSingle({ points }: Past): boolean {
  return points?.counts.every((count) => count <= 1) ?? true;
}

function meanInterval(times: Float64Array): number {
  return times.length < 2 ? 0 : (times[times.length - 1] - times[0]) / (times.length - 1);
}

/** The rule of silences (`stream/pace`): a value counts for 2.5 periods and half a second. Without a rate it stays. */
function maxAgeOf(watch: Watch | undefined, interval: number): number {
  const pace = watch?.pace ?? null;
  if (pace === null) return Number.POSITIVE_INFINITY;
  const period = typeof pace === 'number' ? 1000 / pace : 0;
  return LATE_FACTOR * Math.max(period, interval) + SLACK_MS;
}

/** A value that stays is not known any more once its probe is stopped or its node is gone. */
function untilOf(watch: Watch | undefined, newest: number | undefined): number {
  return watch?.isTaking === false && newest !== undefined ? newest + SLACK_MS : Number.POSITIVE_INFINITY;
}

function rowsOf({ times, values, breaks }: Signal): RowSource {
  const table = { start: times, end: times, breaks, min: [values], max: [values], last: [values] };
  return {
    visit(_from, _to, _rows, each) {
      for (let row = 0; row < times.length; row++) each(table, row);
    },
  };
}

/** Marks the times without a value that no gap of an input explains. */
function unknownIn({ times, values }: Signal, gaps: readonly GapMark[]): GapMark[] {
  const found: GapMark[] = [];
  let known: number | undefined;
  let isUnknown = false;
  const mark = (to: number) => {
    const from = known;
    const isExplained = gaps.some((gap) => from !== undefined && gap.from < to && gap.to > from);
    if (from !== undefined && !isExplained) found.push({ from, to, cause: 'no_value', count: 0 });
  };
  for (let index = 0; index < times.length && found.length < MAX_UNKNOWN; index++) {
    if (Number.isNaN(values[index])) isUnknown = true;
    else {
      if (isUnknown) mark(times[index]);
      isUnknown = false;
      known = times[index];
    }
  }
  if (isUnknown && times.length > 0) mark(times[times.length - 1]);
  return found;
}

/** The least complete part that comes from the archive, and how far the rows are apart. */
function worstPast(reads: readonly Read[]): PastPart | undefined {
  const parts = reads.flatMap(({ past }) => past ?? []);
  const step = Math.max(0, ...reads.flatMap((read) => read.step ?? []));
  const worst = ['failed', 'reading', 'ready'].map((state) => parts.find((part) => part.state === state));
  const part = worst.find((found) => found !== undefined);
  if (step === 0) return part;
  return { ...(part ?? { state: 'ready' }), step };
}
