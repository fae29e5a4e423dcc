import type { Metric, Value } from '@oasis/wire';
import { countBefore, rowsOf, type StoredSample, timeOf } from '../past/newest.ts';
import type { Points } from '../past/points.ts';
import type { PastState } from '../past/reads.ts';
import type { GapMark } from '../series/causes.ts';
import { isSilence, LATE_FACTOR, type Pace, recentBefore, SLACK_MS } from '../series/pace.ts';
import { NONE } from '../series/records.ts';
import type { Target } from '../wire/target.ts';
import { ratesBetween } from './counters.ts';
import { gapAt, INCLUSIVE_MS, isWithin } from './gap_at.ts';
import type { Answer, Query } from './query.ts';
import type { Scene } from './scene.ts';
import { gapsIn } from './series_groups.ts';
import type { SampleView } from './view.ts';
import type { Watch } from './watch.ts';

/** Returns the last sample at or before the end of the shown time, and the gap in which that lies. */
export function momentAnswer(scene: Scene, query: Query & { kind: 'moment' }): Answer {
  const { target, ahead, nodeTime } = query;
  const watch = scene.watch(target);
  const at = nodeTime ?? scene.to - scene.lag(target.node);
  const newest = watch?.sample;
  const known = gapAt(gapsIn(scene, target), at);
  // No sample was taken since.
  if (newest && newest.time <= at)
    return inGap(scene, target, { sample: newest, state: 'ready', gap: known });
  if (!watch?.schema) return { kind: 'moment', sample: undefined, state: 'none' };
  // Rates are over one second, as for live samples, or since the previous sample if that is longer ago.
  const samples = Math.min(MAX_RATE_SAMPLES, Math.ceil(watch.expectedRate ?? 0) + 2);
  const before = scene.isLive ? Number.POSITIVE_INFINITY : at + INCLUSIVE_MS;
  const after = aheadOf(Math.max(ahead ?? 0, reachOf(watch.pace)), at, watch);
  const request = { before, samples, ...(!scene.isLive && { ahead: after }) };
  const { found, state } = scene.archive.readNewest(scene.view, target, 'moment', request, scene.now);
  const { metrics } = watch.schema;
  const read = found?.samples ?? [];
  const end = countBefore(read, before);
  const rows = rowsOf(read.slice(Math.max(0, end - samples), end), metrics);
  const last = rows.at(-1);
  if (!last)
    return state === 'ready'
      ? momentOfRollups(scene, target, at, watch)
      : { kind: 'moment', sample: undefined, state };
  const earlier = rows.findLast(({ time }) => time <= last.time - RATE_MS) ?? rows[0];
  const rates = earlier.time < last.time ? ratesBetween(metrics, earlier, last) : [];
  const probe = read[end - 1]?.state ?? 0;
  const sample = { key: watch.key, ...last, state: probe, rates };
  if (scene.isLive || state !== 'ready') return { kind: 'moment', sample, state };
  // Up to here, all samples after the moment are known.
  const until = Math.min(found?.before ?? before, scene.now - scene.lag(target.node));
  const between = gapBetween(read, end, until, watch.pace);
  const gap = known ?? (between && isWithin(between, at) ? between : undefined);
  return inGap(scene, target, { sample, state, gap });
}

/** An answer for a moment; `gap` has times by the node's clock. */
function inGap(
  scene: Scene,
  target: Target,
  { gap: known, ...found }: { sample: SampleView; state: PastState; gap: GapMark | undefined },
): Answer {
  const lag = scene.lag(target.node);
  const [gap] = known ? scene.explain(target, [known]) : [];
  return {
    kind: 'moment',
    ...found,
    ...(gap && { gap: { ...gap, from: gap.from + lag, to: gap.to + lag } }),
  };
}

/** Milliseconds after a moment in which the next sample has to be taken if the probe was not silent. */
function reachOf(pace: Pace): number {
  return typeof pace === 'number' ? (LATE_FACTOR * 1000) / pace + 2 * SLACK_MS : USUAL_REACH_MS;
}

const USUAL_REACH_MS = 5000;

/** Returns the gap between two samples of the DAC, the second at an index: others are missing, or the probe was silent. */
function gapBetween(
  samples: readonly StoredSample[],
  index: number,
  until: number,
  pace: Pace,
): GapMark | undefined {
  const [before, after] = [samples[index - 1], samples[index]];
  if (!before) return undefined;
  const [from, to] = [timeOf(before), after ? timeOf(after) : until];
  if (after?.cause !== undefined) {
    const missing = Number(after.sequence) - Number(before.sequence) - 1;
    return { from, to, cause: after.cause, count: Math.max(0, missing) };
  }
  const isSilent = isSilence(to - from, pace, () => recentBefore(samples.slice(0, index).map(timeOf), index));
  return isSilent ? { from, to, cause: 'silent', count: 0 } : undefined;
}
/** Time span of a rate in milliseconds, and the maximum of samples in it. */
const RATE_MS = 950;
const MAX_RATE_SAMPLES = 100;

/** Most samples that are read ahead, and the rate if none is known. */
const MOST_AHEAD = 1000;
const USUAL_RATE = 50;

/** Returns what to read ahead of a moment that moves on, up to the newest sample: others are still to come. */
function aheadOf(wanted: number, at: number, { expectedRate, sample }: Watch) {
  const rate = expectedRate ?? USUAL_RATE;
  const known = sample ? Math.max(0, sample.time - at) : wanted;
  const time = Math.min(wanted, known, (1000 * MOST_AHEAD) / rate);
  return { time, samples: Math.ceil((rate * time) / 1000) + 2 };
}

/** Span of roll-ups to read before a moment, and the number of steps in it. */
const ROLLUP_SPAN_MS = 3 * 3_600_000;
const ROLLUP_STEPS = 720;

/** Returns the last value of each metric from roll-ups, if no single samples are left. */
function momentOfRollups(scene: Scene, target: Target, at: number, watch: Watch): Answer {
  const request = { from: at - ROLLUP_SPAN_MS, to: at, columns: ROLLUP_STEPS };
  const { points, state } = scene.archive.read(scene.view, target, 'moment', request, scene.now);
  const row = points ? points.rows.end.findLastIndex((end) => end <= at) : -1;
  if (!points || row < 0) return { kind: 'moment', sample: undefined, state };
  const values = (watch.schema?.metrics ?? []).map((metric) => valueIn(points, metric, row));
  const time = points.rows.end[row];
  const sample = { key: watch.key, sequence: Number.NaN, time, state: 0, values, rates: [] };
  return { kind: 'moment', sample, state, level: points.level };
}

function valueIn({ rows, places, texts }: Points, { name, type }: Metric, row: number): Value {
  const text = texts.get(name)?.[row];
  const number = rows.last[places.get(name) ?? -1]?.[row] ?? Number.NaN;
  if (Number.isNaN(number)) return text ?? NONE;
  return type === 'boolean' ? number === 1 : number;
}
