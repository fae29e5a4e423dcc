import { PERIODIC } from '../stream/protocol.ts';
import { now } from './now.ts';
import type { InstanceCells } from './store.ts';
import { connection } from './store.ts';

export type CardStateName =
  | 'lost'
  | 'waiting'
  | 'absent'
  | 'failed'
  | 'offline'
  | 'disabled'
  | 'armed'
  | 'empty'
  | 'stopped'
  | 'replay'
  | 'lagging'
  | 'live';

/**
 * Milliseconds since the newest sample was taken, on a common clock (websocket.md, "Age"). Unknown while newer samples
 * than that are still to come. Ticks with {@link now}.
 */
export function ageOf(cells: InstanceCells): number | undefined {
  const sample = cells.sample.value;
  if (!sample || cells.flow.value?.isCatchingUp) return undefined;
  return now.value - takenAt(cells, sample.time);
}

/** Converts a time of the node's clock to the browser's, in milliseconds. */
export function takenAt(cells: InstanceCells, time: number): number {
  const browserOffset = connection.value.clock?.offset ?? 0;
  const nodeOffset = (cells.node.value?.clock_offset_ns ?? 0) / 1e6;
  return time + nodeOffset - browserOffset;
}

/** The most severe problem of an instance, or `live`. */
export function cardState(cells: InstanceCells): CardStateName {
  if (connection.value.phase !== 'connected') return 'lost';
  const status = cells.status.value?.status ?? 'waiting';
  if (status === 'failed' || status === 'absent') return status;
  const entry = cells.entry.value;
  if (entry && entry.state !== 'online') return 'offline';
  if (status === 'waiting') return 'waiting';
  if (entry && !entry.enabled) return 'disabled';
  if (cells.flow.value?.isCatchingUp) return 'lagging';
  if (isArmed(cells)) return 'armed';
  if (!cells.sample.value) return 'empty';
  if (entry?.replay) return isLate(cells) ? 'stopped' : 'replay';
  if (isLagging(cells)) return 'lagging';
  return isLate(cells) ? 'stopped' : 'live';
}

/** Whether a flight recorder waits for a trigger: it sends nothing until then. */
function isArmed(cells: InstanceCells): boolean {
  const entry = cells.entry.value;
  if (!entry?.recorder) return false;
  const age = ageOf(cells) ?? Number.POSITIVE_INFINITY;
  return age > (entry.hertz === null ? 0 : 2500 / entry.hertz) + 1000;
}

/** Milliseconds on the way above which samples come from a backlog. */
const BACKLOG_MS = 3000;
const SILENCE_MS = 1000;

/** Whether samples keep arriving, but long after they were taken. A probe that is silent does not lag. */
function isLagging(cells: InstanceCells): boolean {
  const { hops, rate } = cells.flow.value ?? {};
  const age = ageOf(cells);
  if (!hops || !rate || age === undefined) return false;
  const interval = 1000 / rate;
  const onTheWay = hops.inNode + hops.toDac + hops.toBrowser;
  const silence = age - onTheWay;
  return onTheWay > BACKLOG_MS + 1.5 * interval && silence < SILENCE_MS + 1.5 * interval;
}

function isLate(cells: InstanceCells): boolean {
  const entry = cells.entry.value;
  if (!entry?.pace || entry.kind !== PERIODIC) return false;
  return (ageOf(cells) ?? 0) > 2500 / entry.pace + 1000;
}
