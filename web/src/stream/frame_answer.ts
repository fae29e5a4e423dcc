import { isBlob } from '@oasis/wire';
import { type StoredSample, timeOf } from '../past/newest.ts';
import { type Frame, frameOf } from '../series/frames.ts';
import { bytesOfJson } from '../wire/json_batch.ts';
import { gapAt, INCLUSIVE_MS } from './gap_at.ts';
import type { AnswerOf, Query } from './query.ts';
import type { Scene } from './scene.ts';
import { gapsIn, gapsOf } from './series_groups.ts';

/** Images of stored samples: an answer of the DAC is decoded once. */
const decoded = new WeakMap<StoredSample, Frame>();

/** Returns the last image at or before the end of the time shown, and the gaps in it. */
export function frameAnswer(scene: Scene, query: Query & { kind: 'frame' }): AnswerOf<'frame'> {
  const { target, metric } = query;
  const watch = scene.watch(target);
  const lag = scene.lag(target.node);
  const at = scene.isLive ? Number.POSITIVE_INFINITY : scene.to - lag;
  const known = gapsIn(scene, target);
  const gaps = gapsOf(known, lag, scene.from, scene.to);
  const frames = watch?.memory?.frames.get(metric);
  const [gap] = gapsOf([gapAt(known, scene.to - lag) ?? []].flat(), lag, scene.from, scene.to);
  const facts = { gaps, ...(gap && { gap }), ...(frames && { kept: frames.kept }) };
  const newest = frames?.at(at);
  const onClock = (frame: Frame) => ({ ...frame, time: frame.time + lag });
  if (newest) return { kind: 'frame', ...facts, state: 'ready', frame: onClock(newest) };
  const type = watch?.schema?.metrics.find(({ name }) => name === metric)?.type;
  if (type === undefined || !isBlob(type)) return { kind: 'frame', ...facts, state: 'none' };
  const before = Number.isFinite(at) ? at + INCLUSIVE_MS : at;
  const request = { before, samples: 1, hasBlobs: true };
  const { found, state } = scene.archive.readNewest(scene.view, target, 'frame', request, scene.now);
  const sample = found?.samples.at(-1);
  const stored = sample && storedFrame(sample, metric, type.blob.media_type);
  return { kind: 'frame', ...facts, state, ...(stored && { frame: onClock(stored) }) };
}

function storedFrame(
  sample: StoredSample,
  metric: string,
  mediaType: Parameters<typeof frameOf>[3],
): Frame | undefined {
  const known = decoded.get(sample);
  if (known) return known;
  const bytes = bytesOfJson(sample.metrics[metric]);
  if (!bytes) return undefined;
  const frame = frameOf(Number(sample.sequence), timeOf(sample), bytes, mediaType);
  decoded.set(sample, frame);
  return frame;
}
