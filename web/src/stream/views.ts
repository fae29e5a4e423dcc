import type { Plan } from '../expressions/plan.ts';
import { UNREAD } from '../fleet/query.ts';
import type { Target } from '../wire/target.ts';
import { columnsAnswer, extentsOf } from './chart_answer.ts';
import { latestAnswer, spectrumAnswer, statisticsAnswer, xyAnswer } from './computed_answer.ts';
import { histogramAnswer, roseAnswer } from './distribution_answer.ts';
import { frameAnswer } from './frame_answer.ts';
import { recordsAnswer, statesAnswer } from './history_answer.ts';
import { momentAnswer } from './moment_answer.ts';
import { posesAnswer } from './poses_answer.ts';
import type { Answer, Query, ViewResult } from './query.ts';
import type { DataSource, Scene } from './scene.ts';
import { tracksAnswer } from './tracks_answer.ts';
import { valuesAnswer } from './values_answer.ts';

/** Minimum interval between two frames of a chart: smooth for the eye, with time left for the rest of the page. */
const CHART_MS = 33;
/** A transform of many samples, or a trace, is drawn ten times a second: data that come a little early do not wait for the next. */
const DRAWING_MS = 95;
const LIST_MS = 200;
/** Hundreds of transforms. */
const SPECTROGRAM_MS = 500;
const SPARE_BUFFERS = 16;

interface View {
  query: Query;
  /** Time of the last answer. */
  at: number;
  /** Version of the data in the last answer. */
  version: number;
}

/** Answers the queries of panels again when their data changes, no more often than the eye can see. */
export class Views {
  private readonly views = new Map<number, View>();
  private spare: ArrayBuffer[] = [];

  constructor(private readonly source: DataSource) {}

  show(id: number, query: Query): void {
    this.views.set(id, { query, at: Number.NEGATIVE_INFINITY, version: -1 });
  }

  hide(id: number): void {
    this.views.delete(id);
    this.source.archive.closeView(id);
  }

  /** Takes buffers back that the page has drawn. */
  reuse(buffers: readonly ArrayBuffer[]): void {
    this.spare.push(...buffers);
    if (this.spare.length > SPARE_BUFFERS) this.spare.length = SPARE_BUFFERS;
  }

  /** Returns when the next view is due; infinity without views. */
  nextDue(): number {
    let due = Number.POSITIVE_INFINITY;
    for (const view of this.views.values()) due = Math.min(due, view.at + pause(view.query));
    return due;
  }

  /** Returns the answers of the views with changes. */
  drain(now: number): ViewResult[] {
    const results: ViewResult[] = [];
    for (const [id, view] of this.views) {
      if (now - view.at < pause(view.query)) continue;
      const version = this.versionOf(view.query, now);
      view.at = now;
      const isLive = view.query.range.live;
      if ((!isLive || view.query.kind === 'fleet') && version === view.version) continue;
      view.version = version;
      const [from, to] = bounds(view.query, now);
      const scene = { ...this.source, view: id, from, to, isLive, now };
      results.push({ id, from, to, answer: this.answer(scene, view.query) });
    }
    return results;
  }

  private versionOf(query: Query, now: number): number {
    if (query.kind === 'fleet') return this.source.fleets?.versionOf(query.selection, now) ?? 0;
    return targetsOf(query).reduce(
      (sum, target) => sum + (this.source.watch(target)?.memory?.version ?? 0),
      this.source.archive.version,
    );
  }

  private answer(scene: Scene, query: Query): Answer {
    switch (query.kind) {
      case 'columns':
        return columnsAnswer(scene, query, (room) => this.buffer(room));
      case 'states':
        return statesAnswer(scene, query);
      case 'histogram':
        return histogramAnswer(scene, query);
      case 'rose':
        return roseAnswer(scene, query);
      case 'records':
        return recordsAnswer(scene, query);
      case 'extent':
        return { kind: 'extent', extents: extentsOf(scene, query.target) };
      case 'frame':
        return frameAnswer(scene, query);
      case 'moment':
        return momentAnswer(scene, query);
      case 'values':
        return valuesAnswer(scene, query);
      case 'xy':
        return xyAnswer(scene, query);
      case 'spectrum':
        return spectrumAnswer(scene, query);
      case 'statistics':
        return statisticsAnswer(scene, query);
      case 'latest':
        return latestAnswer(scene, query);
      case 'fleet':
        return scene.fleets?.answer(query.selection, query.look, scene.now) ?? UNREAD;
      case 'tracks':
        return tracksAnswer(scene, query);
      case 'poses':
        return posesAnswer(scene, query);
    }
  }

  private buffer(room: number): Float64Array<ArrayBuffer> {
    const found = this.spare.findIndex((buffer) => buffer.byteLength >= 8 * room);
    if (found < 0) return new Float64Array(room);
    return new Float64Array(this.spare.splice(found, 1)[0]);
  }
}

function pause(query: Query): number {
  if (query.kind === 'columns' || query.kind === 'values') return CHART_MS;
  if (query.kind === 'spectrum' && query.isOverTime) return SPECTROGRAM_MS;
  return ['xy', 'spectrum', 'tracks', 'poses', 'frame'].includes(query.kind) ? DRAWING_MS : LIST_MS;
}

function targetsOf(query: Query): readonly Target[] {
  switch (query.kind) {
    case 'columns':
    case 'values':
      return [...query.sources.map(({ target }) => target), ...inputsOf(query.expressions ?? [])];
    case 'xy':
    case 'spectrum':
    case 'statistics':
    case 'latest':
      return inputsOf(query.expressions);
    case 'tracks':
      return query.tracks.flatMap((plans) => inputsOf(Object.values(plans)));
    case 'poses':
      return query.poses.flatMap(({ position, attitude = [] }) => inputsOf([...position, ...attitude]));
    case 'states':
      return query.sources.map(({ target }) => target);
    case 'histogram':
      return [query.source.target];
    case 'records':
      return query.targets;
    case 'fleet':
      return [];
    default:
      return [query.target];
  }
}

function inputsOf(plans: readonly Plan[]): Target[] {
  return plans.flatMap(({ inputs }) => inputs.map(({ target }) => target));
}

/** Returns the range of a query. A live range ends at a whole column, so that the drawing moves by whole columns. */
function bounds({ range, ago = 0, ...query }: Query, now: number): [number, number] {
  if (!range.live) return [range.from - ago, range.to - ago];
  const width = query.kind === 'columns' ? range.span / query.columns : 1;
  const to = Math.ceil(now / width) * width - ago;
  return [to - range.span, to];
}
