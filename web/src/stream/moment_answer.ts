import type { Metric, Value } from '@oasis/wire';
import { NONE, rowsOf } from '../past/newest.ts';
import type { Points } from '../past/points.ts';
import { ratesBetween } from './counters.ts';
import type { Answer, Query } from './query.ts';
import type { Scene } from './scene.ts';
import type { Target } from './view.ts';
import type { Watch } from './watch.ts';

/** Returns the last sample at or before the end of the shown time. */
export function momentAnswer(scene: Scene, { target }: Query & { kind: 'moment' }): Answer {
  const watch = scene.watch(target);
  const at = scene.to - scene.lag(target.node);
  const newest = watch?.sample;
  // No sample was taken since.
  if (newest && newest.time <= at) return { kind: 'moment', sample: newest, state: 'ready' };
  if (!watch?.schema) return { kind: 'moment', sample: undefined, state: 'none' };
  // Rates are over one second, as for live samples, or since the previous sample if that is longer ago.
  const samples = Math.min(MAX_RATE_SAMPLES, Math.ceil(watch.expectedRate ?? 0) + 2);
  const request = { before: scene.isLive ? Number.POSITIVE_INFINITY : at + INCLUSIVE_MS, samples };
  const { found, state } = scene.archive.readNewest(scene.view, target, 'moment', request, scene.now);
  const { metrics } = watch.schema;
  const rows = rowsOf(found?.samples ?? [], metrics);
  const last = rows.at(-1);
  if (!last)
    return state === 'ready'
      ? momentOfRollups(scene, target, at, watch)
      : { kind: 'moment', sample: undefined, state };
  const before = rows.findLast(({ time }) => time <= last.time - RATE_MS) ?? rows[0];
  const rates = before.time < last.time ? ratesBetween(metrics, before, last) : [];
  const probe = found?.samples.at(-1)?.state ?? 0;
  return { kind: 'moment', sample: { key: watch.key, ...last, state: probe, rates }, state };
}

/** Added to the time, so that a sample at exactly that time is found; milliseconds. */
const INCLUSIVE_MS = 0.001;
/** Time span of a rate in milliseconds, and the maximum of samples in it. */
const RATE_MS = 950;
const MAX_RATE_SAMPLES = 100;

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
