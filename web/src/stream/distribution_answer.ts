import { timeOf } from '../past/newest.ts';
import { sampledOf, seamOf } from '../past/sampled.ts';
import { histogram, intervals } from '../series/histogram.ts';
import { concat, type Extreme, type Folded, hasAllRaw, rawSince, samplesOf } from '../series/raw_samples.ts';
import { rose } from '../series/rose.ts';
import type { Target } from '../wire/target.ts';
import type { Answer, PastPart, Query } from './query.ts';
import type { Scene } from './scene.ts';

/** Steps for a distribution: enough for its 99th percentile. */
const STEPS = 1000;
/** Consecutive samples for a distribution of intervals. */
const INTERVAL_SAMPLES = 1000;
/** Lower bounds of the wind classes 2, 3, 4, 5, 6 and 7 of the Beaufort scale (m/s). */
const WIND_BOUNDS = [1.6, 3.4, 5.5, 8, 10.8, 13.9];

/** Samples of a distribution: those in memory, and before them those of the archive. */
interface Distribution extends Folded {
  readonly past?: PastPart;
}

export function histogramAnswer(scene: Scene, query: Query & { kind: 'histogram' }): Answer {
  const { target, metrics } = query.source;
  const found = query.of === 'intervals' ? intervalsOf(scene, target) : valuesOf(scene, target, metrics);
  if (!found) return { kind: 'histogram', histogram: undefined };
  return { kind: 'histogram', histogram: histogram(found, query.bins, found.extremes[0]), past: found.past };
}

export function roseAnswer(scene: Scene, query: Query & { kind: 'rose' }): Answer {
  const found = valuesOf(scene, query.target, [query.direction, query.speed]);
  return { kind: 'rose', rose: found && rose(found, WIND_BOUNDS), past: found?.past };
}

function valuesOf(scene: Scene, target: Target, metrics: readonly string[]): Distribution | undefined {
  const memory = scene.watch(target)?.memory;
  const series = metrics.map((metric) => memory?.seriesOf(metric) ?? -1);
  if (!memory || series.some((index) => index < 0)) return undefined;
  const lag = scene.lag(target.node);
  const [from, to] = [scene.from - lag, scene.to - lag];
  const { store } = memory;
  const { reach } = store;
  const oldest = reach?.oldest ?? Number.POSITIVE_INFINITY;
  // Folded samples are enough for a live range; a paused range reads single samples from the archive if it has them.
  const seam = scene.isLive ? oldest : (rawSince(store) ?? Number.POSITIVE_INFINITY);
  const remembered = (since: number) => samplesOf(store, series, since, to);
  if (from >= seam) return remembered(from);
  const end = Math.min(to, seam);
  const columns = Math.max(1, (STEPS * (end - from)) / (to - from));
  const request = { from, to: end, columns, remembered: reach && { ...reach, oldest: seam } };
  const { points, state } = scene.archive.read(scene.view, target, 'sampled', request, scene.now);
  if (!points) return { ...remembered(from), past: from < oldest ? partial(state, oldest + lag) : undefined };
  const takeover = seamOf(points, seam);
  const past = sampledOf(points, metrics, from, Math.min(takeover, to));
  const newer = remembered(Math.max(takeover, seam));
  return {
    ...concat([past, newer], series.length),
    extremes: past.extremes.map((extreme, index) => widest(extreme, newer.extremes[index])),
    past: { state, level: points.level, ...(past.isThinned && { step: points.step }) },
  };
}

function widest(one: Extreme, other: Extreme | undefined): Extreme {
  return other ? [Math.min(one[0], other[0]), Math.max(one[1], other[1])] : one;
}

function intervalsOf(scene: Scene, target: Target): Distribution | undefined {
  const memory = scene.watch(target)?.memory;
  if (!memory) return undefined;
  const lag = scene.lag(target.node);
  const [from, to] = [scene.from - lag, scene.to - lag];
  const { store } = memory;
  const raw = { ...intervals(store, from, to), extremes: [] };
  const seam = rawSince(store) ?? Number.POSITIVE_INFINITY;
  if (from >= seam) return raw;
  // The archive would have to be read again with each sample that memory evicts.
  if (scene.isLive && !hasAllRaw(store)) return { ...raw, past: partial('none', seam + lag) };
  const before = scene.isLive ? seam : Math.min(to, seam);
  const request = { before, samples: INTERVAL_SAMPLES };
  const { found, state } = scene.archive.readNewest(scene.view, target, 'intervals', request, scene.now);
  const wanted = (found?.samples ?? []).filter((sample) => timeOf(sample) >= from);
  if (!found || wanted.length === 0)
    return { ...raw, past: partial(state === 'ready' ? 'none' : state, seam + lag) };
  const isCut = found.isCut && wanted.length === found.samples.length;
  const values = wanted.flatMap((sample, index) => {
    const before = wanted[index - 1];
    const isNext = before && Number(sample.sequence) === Number(before.sequence) + 1;
    return isNext ? [timeOf(sample) - timeOf(before)] : [];
  });
  return {
    ...concat([{ columns: [Float64Array.from(values)] }, raw], 1),
    extremes: [],
    past: { state, level: 'raw', ...(isCut && { newest: found.samples.length }) },
  };
}

/** Describes a range of which only the samples in memory are available, or available so far. */
function partial(state: PastPart['state'], since: number): PastPart | undefined {
  if (state !== 'none') return { state };
  return Number.isFinite(since) ? { state, since } : undefined;
}
