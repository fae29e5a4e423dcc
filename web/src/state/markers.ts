import { effect, signal } from '@preact/signals';
import { MARKER_LEVELS, type MarkerLevel } from '../series/log_levels.ts';
import type { AnswerOf, Query, RecordLine, ViewResult } from '../stream/query.ts';
import { isSame } from '../wire/same.ts';
import { keyOf, type Target } from '../wire/target.ts';
import { borrow, shownTargets } from './panels.ts';
import { rangeToRead } from './playback.ts';
import { sameComputed } from './same_computed.ts';
import { cellsOf, registry } from './store.ts';

/** Log records as marks on the charts of their node. */

export interface Marker {
  readonly time: number;
  readonly node: string;
  readonly instance: string;
  readonly level: number;
  readonly text: string;
}

const LOGS = 'OASIS::Program::LogProbe';
/** Logs that are read, and the records that are marked, at most. */
const MAX_LOGS = 16;
const MAX_MARKERS = 1000;
const LONGEST_TEXT = 200;
const STORED = 'oasis.markers';

export const markerLevel = signal<MarkerLevel>(stored());
/** In the order of time. */
export const markers = signal<readonly Marker[]>([]);
/** Time of the oldest record that was read, if there are older ones in the time shown. */
export const markersSince = signal<number | undefined>(undefined);

export function chooseMarkers(level: MarkerLevel): void {
  markerLevel.value = level;
  try {
    localStorage.setItem(STORED, level);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

/** The logs of the nodes on the screen. */
const logs = sameComputed((): readonly Target[] => {
  if (markerLevel.value === 'off') return [];
  return logsOf(new Set(shownTargets.value.map(({ node }) => node)));
});

/** Returns the logs of nodes. Reads signals. */
export function logsOf(nodes: ReadonlySet<string>): readonly Target[] {
  const found = (registry.value?.instances ?? [])
    .filter(({ type, node }) => type === LOGS && nodes.has(node))
    .map(({ node, instance }): Target => ({ node, instance }));
  return found.slice(0, MAX_LOGS);
}

/** Reads the log records to mark while somebody wants them. */
export function followMarkers(
  show: (query: Query, draw: (result: ViewResult) => void) => number,
  hide: (id: number) => void,
): void {
  effect(() => {
    const targets = logs.value;
    return targets.length === 0 ? undefined : borrow('markers', targets);
  });
  effect(() => {
    const targets = logs.value;
    const value = MARKER_LEVELS[markerLevel.value];
    if (targets.length === 0) {
      markers.value = [];
      markersSince.value = undefined;
      return;
    }
    const query: Query = {
      kind: 'records',
      range: rangeToRead.value,
      targets,
      limit: MAX_MARKERS,
      atLeast: { metric: 'level', value },
    };
    const id = show(query, ({ answer }) => {
      if (answer.kind === 'records') take(answer, targets);
    });
    return () => hide(id);
  });
}

function take({ lines, past }: AnswerOf<'records'>, targets: readonly Target[]): void {
  const found = lines.flatMap((line) => markerOf(line, targets) ?? []).reverse();
  if (!isSame(found, markers.peek())) markers.value = found;
  markersSince.value = past?.newest === undefined ? undefined : found[0]?.time;
}

function markerOf({ key, time, values }: RecordLine, targets: readonly Target[]): Marker | undefined {
  const target = targets.find((candidate) => keyOf(candidate) === key);
  const metrics = (target && cellsOf(target).status.peek()?.schema?.metrics) ?? [];
  const field = (name: string) => values[metrics.findIndex((metric) => metric.name === name)];
  const level = Number(field('level'));
  if (!target || !Number.isFinite(level)) return undefined;
  return { time, ...target, level, text: String(field('message') ?? '').slice(0, LONGEST_TEXT) };
}

/** Returns the markers of these nodes. */
export function markersOn(all: readonly Marker[], shown: readonly Target[]): Marker[] {
  const nodes = new Set(shown.map(({ node }) => node));
  return all.filter(({ node }) => nodes.has(node));
}

function stored(): MarkerLevel {
  try {
    const text = localStorage.getItem(STORED) ?? 'off';
    return text in MARKER_LEVELS && Object.hasOwn(MARKER_LEVELS, text) ? (text as MarkerLevel) : 'off';
  } catch {
    return 'off';
  }
}
