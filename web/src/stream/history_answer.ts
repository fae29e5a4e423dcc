import { enumeratorOf, type Metric } from '@oasis/wire';
import type { PointsRequest } from '../past/archive_reader.ts';
import { isMissing } from '../past/joined.ts';
import { rowsOf } from '../past/newest.ts';
import { runsOf } from '../past/state_runs.ts';
import type { RecordRow } from '../series/records.ts';
import type { StateRun } from '../series/states.ts';
import { keyOf, type Target } from '../wire/target.ts';
import type { Answer, PastPart, Query, RecordLine, StateTrack } from './query.ts';
import type { Scene } from './scene.ts';
import { gapsIn, gapsOf } from './series_groups.ts';

/** States and events over time. */

/** Most samples of an instance that a search reads; memory and the archive have no index of texts. */
const SEARCHED = 4000;

export function statesAnswer(scene: Scene, query: Query & { kind: 'states' }): Answer {
  const found = query.sources.map(({ target, metrics }) => tracksOf(scene, target, metrics, query.columns));
  return {
    kind: 'states',
    tracks: found.flatMap(({ tracks }) => tracks),
    past: worst(found.flatMap(({ past }) => past ?? [])),
  };
}

function tracksOf(
  scene: Scene,
  target: Target,
  metrics: readonly string[],
  columns: number,
): { tracks: StateTrack[]; past?: PastPart } {
  const lag = scene.lag(target.node);
  const [from, to] = [scene.from - lag, scene.to - lag];
  const watch = scene.watch(target);
  const seams = metrics.map(
    (metric) => watch?.memory?.states.get(metric)?.oldest ?? Number.POSITIVE_INFINITY,
  );
  const isRemembered = !watch || seams.every((seam) => from >= seam);
  // All panels of the instance send the same request, so that they share one answer.
  const request = { from, to, columns, remembered: rememberedSince(seams, watch?.memory?.store.newest) };
  const { points, state } = isRemembered
    ? { points: undefined, state: 'none' as const }
    : scene.archive.read(scene.view, target, 'states', request, scene.now);
  const isBoolean = (metric: string) =>
    watch?.schema?.metrics.find(({ name }) => name === metric)?.type === 'boolean';
  const all = [...scene.explain(target, points?.gaps ?? []), ...gapsIn(scene, target)];
  const gaps = gapsOf(all, lag, scene.from, scene.to);
  const tracks = metrics.map((metric, index): StateTrack => {
    const remembered = watch?.memory?.states.get(metric)?.between(from, to) ?? [];
    const past = points ? runsOf(points, metric, isBoolean(metric), seams[index]) : [];
    const isBroken = points !== undefined && isMissing(points, past.at(-1)?.to, seams[index]);
    const runs = append(past, remembered, isBroken).filter((run) => run.to >= from && run.from <= to);
    return { key: keyOf(target), metric, runs: runs.map((run) => shifted(run, lag)), gaps };
  });
  if (state === 'none') return { tracks };
  const isCoarse = tracks.some(({ runs }) => runs.some(({ isMixed }) => isMixed));
  return {
    tracks,
    past: { state, ...(points && { level: points.level, ...(isCoarse && { step: points.step }) }) },
  };
}

/** Returns the time from which all states in memory are known. */
function rememberedSince(seams: readonly number[], newest: number | undefined): PointsRequest['remembered'] {
  const known = seams.filter(Number.isFinite);
  return known.length === 0 || newest === undefined ? undefined : { oldest: Math.max(...known), newest };
}

/**
 * Appends the runs in memory to those of the archive. A state that continues is one run, unless samples are missing
 * between.
 */
function append(past: StateRun[], remembered: readonly StateRun[], isBroken: boolean): StateRun[] {
  const [last, [next, ...rest]] = [past.at(-1), remembered];
  if (!last || !next || next.isBroken) return [...past, ...remembered];
  if (isBroken) return [...past, { ...next, isBroken }, ...rest];
  if (last.value === next.value && !last.isMixed) {
    return [...past.slice(0, -1), { ...last, to: next.to }, ...rest];
  }
  return [...past.slice(0, -1), { ...last, to: Math.max(last.to, next.from) }, ...remembered];
}

function shifted(run: StateRun, lag: number): StateRun {
  return { ...run, from: run.from + lag, to: run.to + lag };
}

/** Returns the newest samples of a time span one by one. */
export function recordsAnswer(scene: Scene, query: Query & { kind: 'records' }): Answer {
  const { targets, limit } = query;
  const found = targets.map((target) => recordsOf(scene, target, query));
  const lines = found.flatMap(({ lines }) => lines);
  lines.sort((a, b) => b.time - a.time);
  const part = worst(found.flatMap(({ past }) => past ?? []));
  const isCut = lines.length >= limit || found.some(({ isCut }) => isCut);
  const past = part ?? (isCut ? { state: 'ready' as const } : undefined);
  return {
    kind: 'records',
    lines: lines.slice(0, limit),
    searched: found.reduce((sum, { searched }) => sum + searched, 0),
    past: past && { ...past, ...(isCut && { newest: Math.min(limit, lines.length) }) },
  };
}

type RecordsQuery = Query & { kind: 'records' };

function recordsOf(
  scene: Scene,
  target: Target,
  { limit: shown, words = [], atLeast }: RecordsQuery,
): { lines: RecordLine[]; searched: number; past?: PastPart; isCut?: boolean } {
  const watch = scene.watch(target);
  const lag = scene.lag(target.node);
  const [from, to] = [scene.from - lag, scene.to - lag];
  const key = keyOf(target);
  const line = (row: RecordRow): RecordLine => ({ ...row, key, time: row.time + lag });
  const records = watch?.memory?.records;
  // A search reads everything in memory, not only what the list has room for.
  const limit = words.length > 0 || atLeast ? SEARCHED : shown;
  const matches = matcher(watch?.schema?.metrics ?? [], words, atLeast);
  const inMemory = records?.between(from, to, limit) ?? [];
  const remembered = inMemory.filter(matches).map(line);
  const oldest = records?.oldest ?? Number.POSITIVE_INFINITY;
  if (!watch?.schema || inMemory.length >= limit || from >= oldest)
    return { lines: remembered, searched: inMemory.length };
  // A live range is not read again at each moment: while memory is empty, the newest samples of the DAC are enough.
  const request = { before: scene.isLive ? oldest : Math.min(to, oldest), samples: limit };
  const { found, state } = scene.archive.readNewest(
    scene.view,
    target,
    `records ${limit}`,
    request,
    scene.now,
  );
  if (!found) return { lines: remembered, searched: inMemory.length, past: { state } };
  const rows = rowsOf(found.samples, watch.schema.metrics);
  const wanted = rows.filter(({ time }) => time >= from && time <= to && time < oldest);
  const searched = inMemory.length + wanted.length;
  if (wanted.length === 0)
    return { lines: remembered, searched, ...(state !== 'ready' && { past: { state } }) };
  return {
    lines: [...remembered, ...wanted.reverse().filter(matches).map(line)],
    searched,
    past: { state, level: 'raw' },
    isCut: found.isCut && wanted.length === rows.length,
  };
}

/** Returns whether a sample has at least a value, and its values, as the page shows them, contain all words. */
function matcher(
  metrics: readonly Metric[],
  words: readonly string[],
  atLeast: RecordsQuery['atLeast'],
): (row: RecordRow) => boolean {
  const place = metrics.findIndex(({ name }) => name === atLeast?.metric);
  return ({ values }) => {
    if (atLeast && !(Number(values[place]) >= atLeast.value)) return false;
    if (words.length === 0) return true;
    const shown = values.map(
      (value, index) => enumeratorOf(metrics[index]?.enum, value)?.name ?? String(value),
    );
    const text = shown.join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

/** Returns the part that is furthest from complete. */
function worst(parts: readonly PastPart[]): PastPart | undefined {
  const first = (state: PastPart['state']) => parts.find((part) => part.state === state);
  return (
    first('failed') ?? first('reading') ?? parts.find(({ step }) => step !== undefined) ?? first('ready')
  );
}
