import type { Plan } from '../expressions/plan.ts';
import { rowsOf } from '../past/newest.ts';
import { rawSince } from '../series/raw_samples.ts';
import type { SeriesStore } from '../series/store.ts';
import { computedRows } from './expression_answer.ts';
import { INCLUSIVE_MS } from './gap_at.ts';
import type { AnswerOf, Query, ValueAt } from './query.ts';
import type { Scene } from './scene.ts';
import { type DrawnGroup, groupsOf } from './series_groups.ts';

/** The last sample of each line at or before the end of the range; undefined where it is not known, or not yet. */
export function valuesAnswer(scene: Scene, query: Query & { kind: 'values' }): AnswerOf<'values'> {
  const { sources, expressions = [] } = query;
  const groups = sources.flatMap((source) => groupsOf(scene, source));
  return {
    kind: 'values',
    values: [
      ...groups.flatMap((group) => valuesIn(scene, group)),
      ...expressions.map((plan) => computedAt(scene, plan)),
    ],
  };
}

function valuesIn(scene: Scene, group: DrawnGroup): (ValueAt | undefined)[] {
  const { store, picked, lag } = group;
  const at = scene.to - lag + INCLUSIVE_MS;
  const row = store && rowAt(store, at);
  if (store && row !== undefined) {
    const [raw] = store.tiers;
    return picked.map((series) => ({ time: raw.end[row] + lag, value: raw.last[series][row] }));
  }
  // The archive has vectors and structs as they are, not by element.
  return group.part ? picked.map(() => undefined) : storedValues(scene, group, at);
}

/** Returns the slot of the last single sample at or before a time, if it is in memory. */
function rowAt({ tiers: [raw] }: SeriesStore, time: number): number | undefined {
  let index = raw.lowerBound(time);
  while (index < raw.next && raw.end[raw.slot(index)] <= time) index++;
  return index > raw.first ? raw.slot(index - 1) : undefined;
}

function storedValues(scene: Scene, { target, names, lag }: DrawnGroup, before: number) {
  const metrics = scene.watch(target)?.schema?.metrics ?? [];
  const request = { before, samples: 1 };
  const { found, state } = scene.archive.readNewest(scene.view, target, 'values', request, scene.now);
  const last = state === 'ready' ? rowsOf(found?.samples ?? [], metrics).at(-1) : undefined;
  return names.map((name): ValueAt | undefined => {
    const value = last?.values[metrics.findIndex((metric) => metric.name === name)];
    return last && value !== undefined ? { time: last.time + lag, value: Number(value) } : undefined;
  });
}

/** An expression of samples in memory. Of the archive it is computed for columns only. */
function computedAt(scene: Scene, plan: Plan): ValueAt | undefined {
  const isInMemory = plan.inputs.every(({ target }) => {
    const store = scene.watch(target)?.memory?.store;
    const since = store && rawSince(store);
    return since !== undefined && since <= scene.to - scene.lag(target.node) - plan.before - 1;
  });
  if (!isInMemory) return undefined;
  const { signal } = computedRows({ ...scene, from: scene.to - 1 }, plan, 'values', 1);
  const row = signal.times.findLastIndex((time) => time <= scene.to + INCLUSIVE_MS);
  return row < 0 ? undefined : { time: signal.times[row], value: signal.values[row] };
}
