import { computed, effect, signal } from '@preact/signals';
import { fetchJson } from '../api/api.ts';
import { strings } from '../strings/strings.ts';
import { listOf } from '../wire/fields.ts';
import { isSame } from '../wire/same.ts';
import type { Target } from '../wire/target.ts';
import { rangeToRead } from './playback.ts';
import { reread } from './reread.ts';
import { hasArchive, isConnected } from './store.ts';
import { ends } from './time.ts';

/** A note at a moment, or of a span. */
export interface Annotation {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly until?: number;
  readonly text: string;
  /** The instances that it concerns: a whole node if `instance` is missing; all of them without this field. */
  readonly targets?: readonly { readonly node: string; readonly instance?: string }[];
  /** Its number in the DAC, which everybody sees. Without one it belongs to this layout. */
  readonly id?: number;
}

export const MAX_ANNOTATIONS = 100;
export const MAX_NOTE = 200;
/** Limit of one answer (http-api.md). */
export const MAX_KEPT = 1000;
const REREAD_MS = 5000;
const PAUSE_MS = 300;

/** Notes of this layout, saved and shared with it. */
export const annotations = signal<readonly Annotation[]>([]);
/** Notes of the DAC in the shown range. */
const kept = signal<readonly Annotation[]>([]);
/** Start of the last shown annotation if the DAC may have later ones, in milliseconds since 1970. */
export const keptUntil = signal<number | undefined>(undefined);
export const allAnnotations = computed(() =>
  [...annotations.value, ...kept.value].sort((a, b) => a.time - b.time),
);

/** Writes a note at a moment, or of a span until `until`: into the DAC for everybody, or into the layout if the DAC stores none. */
export async function annotate(time: number, text: string, until?: number): Promise<void> {
  const note = { time, text: text.slice(0, MAX_NOTE), ...(until === undefined ? {} : { until }) };
  if (hasArchive.peek()) {
    const span = until === undefined ? {} : { until: nanos(until) };
    await fetchJson('POST', 'annotations', { body: { time: nanos(time), ...span, text: note.text } });
    await readKept();
    return;
  }
  if (annotations.peek().length >= MAX_ANNOTATIONS) throw new Error(strings.notes.full(MAX_ANNOTATIONS));
  annotations.value = [...annotations.peek(), note].sort((a, b) => a.time - b.time);
}

export async function removeAnnotation(annotation: Annotation): Promise<void> {
  if (annotation.id !== undefined) {
    await fetchJson('DELETE', `annotations/${annotation.id}`);
    await readKept();
    return;
  }
  annotations.value = annotations.peek().filter((other) => other !== annotation);
}

/** Keeps the DAC's notes in the shown range up to date. */
export function followAnnotations(): void {
  const canAsk = computed(() => hasArchive.value && isConnected.value);
  effect(() => {
    void rangeToRead.value;
    if (!canAsk.value) return;
    // The notes stay as they were; the banner reports the lost connection.
    return reread((signal) => readKept(signal).catch(() => {}), REREAD_MS, PAUSE_MS);
  });
}

async function readKept(signal?: AbortSignal): Promise<void> {
  const [from, to] = ends(rangeToRead.peek());
  const path = `annotations?from=${nanos(from)}&to=${nanos(to)}&limit=${MAX_KEPT}`;
  const { annotations: found, next } = (await fetchJson('GET', path, { signal })) as {
    annotations: Record<string, unknown>[];
    next: unknown;
  };
  const read = found.map(
    ({ id, time, until, text, targets }): Annotation => ({
      id: Number(id),
      time: Number(time) / 1e6,
      ...(typeof until === 'number' && { until: until / 1e6 }),
      text: String(text),
      ...targetsIn(targets),
    }),
  );
  keptUntil.value = typeof next === 'string' ? read.at(-1)?.time : undefined;
  if (!isSame(read, kept.peek())) kept.value = read;
}

function targetsIn(fields: unknown): Pick<Annotation, 'targets'> {
  const targets = listOf(fields).map(({ node, instance }) => ({
    node: String(node),
    ...(typeof instance === 'string' && { instance }),
  }));
  return targets.length === 0 ? {} : { targets };
}

/** Returns the notes that concern any of these instances, or all. */
export function annotationsOn(notes: readonly Annotation[], shown: readonly Target[]): Annotation[] {
  return notes.filter(
    ({ targets }) =>
      !targets ||
      targets.some(({ node, instance }) =>
        shown.some((of) => of.node === node && (instance === undefined || of.instance === instance)),
      ),
  );
}

/** More exact than a double. */
function nanos(ms: number): string {
  return String(BigInt(Math.max(0, Math.round(ms))) * 1_000_000n);
}
