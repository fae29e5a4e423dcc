import { timeOf } from '../past/newest.ts';
import { sampledOf } from '../past/sampled.ts';
import { concat, heldOf, heldSince, type Samples } from '../series/held.ts';
import { histogram, intervals } from '../series/histogram.ts';
import { rose } from '../series/rose.ts';
import type { Answer, PastPart, Query } from './query.ts';
import type { Scene } from './scene.ts';
import type { Target } from './view.ts';

/** Stretches that a distribution is made from: enough for its 99th percentile. */
const STRETCHES = 1000;
/** Samples one after the other that the times between them are taken from. */
const NEIGHBOURS = 1000;
/** Classes of wind speed: Beaufort's 2, 3, 4, 5, 6 and 7 begin here (m/s). */
const WIND_BOUNDS = [1.6, 3.4, 5.5, 8, 10.8, 13.9];

/** What distributions are made of: samples still held one by one, and before them what the archive has. */
interface Found {
  readonly samples: Samples;
  readonly extremes: readonly (readonly [number, number])[];
  readonly past?: PastPart;
}

export function histogramAnswer(scene: Scene, query: Query & { kind: 'histogram' }): Answer {
  const { target, metrics } = query.source;
  const found = query.of === 'intervals' ? intervalsOf(scene, target) : valuesOf(scene, target, metrics);
  if (!found) return { kind: 'histogram', histogram: undefined };
  const { samples, extremes, past } = found;
  return { kind: 'histogram', histogram: histogram(samples, query.bins, extremes[0]), past };
}

export function roseAnswer(scene: Scene, query: Query & { kind: 'rose' }): Answer {
  const found = valuesOf(scene, query.target, [query.direction, query.speed]);
  return { kind: 'rose', rose: found && rose(found.samples, WIND_BOUNDS), past: found?.past };
}

function valuesOf(scene: Scene, target: Target, metrics: readonly string[]): Found | undefined {
  const memory = scene.watch(target)?.memory;
  const series = metrics.map((metric) => memory?.seriesOf(metric) ?? -1);
  if (!memory || series.some((index) => index < 0)) return undefined;
  const lag = scene.lag(target.node);
  const [from, to] = [scene.from - lag, scene.to - lag];
  const held = heldOf(memory.store, series, from, to);
  const seam = heldSince(memory.store) ?? Number.POSITIVE_INFINITY;
  if (from >= seam) return { samples: held, extremes: [] };
  // What is live changes faster than it could be read again and again.
  const wish = { from, to, columns: STRETCHES };
  const none = { points: undefined, state: 'none' } as const;
  const { points, state } = scene.isLive
    ? none
    : scene.archive.read(scene.view, target, 'sampled', wish, scene.now);
  if (!points) return { samples: held, extremes: [], past: lacking(state, seam + lag) };
  const past = sampledOf(points, metrics, from, Math.min(seam, to));
  return {
    samples: concat([past, held], series.length),
    extremes: past.extremes,
    past: { state, level: points.level, ...(past.isThinned && { step: points.step }) },
  };
}

function intervalsOf(scene: Scene, target: Target): Found | undefined {
  const memory = scene.watch(target)?.memory;
  if (!memory) return undefined;
  const lag = scene.lag(target.node);
  const [from, to] = [scene.from - lag, scene.to - lag];
  const held = intervals(memory.store, from, to);
  const seam = heldSince(memory.store) ?? Number.POSITIVE_INFINITY;
  if (from >= seam) return { samples: held, extremes: [] };
  if (scene.isLive) return { samples: held, extremes: [], past: lacking('none', seam + lag) };
  const wish = { before: Math.min(to, seam), samples: NEIGHBOURS };
  const { found, state } = scene.archive.readNewest(scene.view, target, 'intervals', wish, scene.now);
  if (!found) return { samples: held, extremes: [], past: lacking(state, seam + lag) };
  const wanted = found.samples.filter((sample) => timeOf(sample) >= from);
  const isCut = found.isCut && wanted.length === found.samples.length;
  const values = wanted.flatMap((sample, index) => {
    const before = wanted[index - 1];
    const isNext = before && Number(sample.sequence) === Number(before.sequence) + 1;
    return isNext ? [timeOf(sample) - timeOf(before)] : [];
  });
  const samples = concat([{ columns: [Float64Array.from(values)] }, held], 1);
  return {
    samples,
    extremes: [],
    past: { state, level: 'raw', ...(isCut && { newest: found.samples.length }) },
  };
}

/** Only what is remembered is there, or is there so far. */
function lacking(state: PastPart['state'], since: number): PastPart | undefined {
  if (state !== 'none') return { state };
  return Number.isFinite(since) ? { state, since } : undefined;
}
