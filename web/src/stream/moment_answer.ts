import type { Metric, Value } from '@oasis/wire';
import { countBefore, NONE, rowsOf } from '../past/newest.ts';
import type { Points } from '../past/points.ts';
import { ratesBetween } from './counters.ts';
import type { Answer, Query } from './query.ts';
import type { Scene } from './scene.ts';
import type { Target } from './view.ts';
import type { Watch } from './watch.ts';

/** Returns the last sample at or before the end of the shown time. */
export function momentAnswer(scene: Scene, { target, ahead }: Query & { kind: 'moment' }): Answer {
  const watch = scene.watch(target);
  const at = scene.to - scene.lag(target.node);
  const newest = watch?.sample;
  // No sample was taken since.
  if (newest && newest.time <= at) return { kind: 'moment', sample: newest, state: 'ready' };
  if (!watch?.schema) return { kind: 'moment', sample: undefined, state: 'none' };
  // Rates are over one second, as for live samples, or since the previous sample if that is longer ago.
  const samples = Math.min(MAX_RATE_SAMPLES, Math.ceil(watch.expectedRate ?? 0) + 2);
  const before = scene.isLive ? Number.POSITIVE_INFINITY : at + INCLUSIVE_MS;
  const request = { before, samples, ...(ahead && !scene.isLive && { ahead: aheadOf(ahead, at, watch) }) };
  const { found, state } = scene.archive.readNewest(scene.view, target, 'moment', request, scene.now);
  const { metrics } = watch.schema;
  const known = found?.samples ?? [];
  const end = countBefore(known, before);
  const rows = rowsOf(known.slice(Math.max(0, end - samples), end), metrics);
  const last = rows.at(-1);
  if (!last)
    return state === 'ready'
      ? momentOfRollups(scene, target, at, watch)
      : { kind: 'moment', sample: undefined, state };
  const earlier = rows.findLast(({ time }) => time <= last.time - RATE_MS) ?? rows[0];
  const rates = earlier.time < last.time ? ratesBetween(metrics, earlier, last) : [];
  const probe = known[end - 1]?.state ?? 0;
  return { kind: 'moment', sample: { key: watch.key, ...last, state: probe, rates }, state };
}

/** Added to the time, so that a sample at exactly that time is found; milliseconds. */
const INCLUSIVE_MS = 0.001;
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
