import { computed, effect, signal } from '@preact/signals';
import { ask } from './api.ts';
import { reread } from './reread.ts';
import { hasArchive, isConnected } from './store.ts';
import { ends, range } from './time.ts';

/** A note at a moment, or of a span. */
export interface Annotation {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly until?: number;
  readonly text: string;
  /** Its number in the DAC, for everybody; without one it belongs to this layout. */
  readonly id?: number;
}

export const MAX_ANNOTATIONS = 100;
export const MAX_NOTE = 200;
const REREAD_MS = 5000;
const PAUSE_MS = 300;

/** Those of this layout, saved and shared with it. */
export const annotations = signal<readonly Annotation[]>([]);
/** Those that the DAC keeps, of the time that is shown. */
const kept = signal<readonly Annotation[]>([]);
export const allAnnotations = computed(() =>
  [...annotations.value, ...kept.value].sort((a, b) => a.time - b.time),
);

/** Writes a note: for everybody, if the DAC keeps any. */
export async function annotate(time: number, text: string): Promise<void> {
  const note = { time, text: text.slice(0, MAX_NOTE) };
  if (hasArchive.peek()) {
    await ask('POST', 'annotations', { body: { time: nanos(time), text: note.text } });
    await readKept();
    return;
  }
  annotations.value = [...annotations.peek(), note].sort((a, b) => a.time - b.time).slice(-MAX_ANNOTATIONS);
}

export async function removeAnnotation(annotation: Annotation): Promise<void> {
  if (annotation.id !== undefined) {
    await ask('DELETE', `annotations/${annotation.id}`);
    await readKept();
    return;
  }
  annotations.value = annotations.peek().filter((other) => other !== annotation);
}

/** Keeps what the DAC has of the time that is shown up to date. */
export function followAnnotations(): void {
  const canAsk = computed(() => hasArchive.value && isConnected.value);
  effect(() => {
    void range.value;
    if (!canAsk.value) return;
    // They stay as they were; that there is no connection is said elsewhere.
    return reread((signal) => readKept(signal).catch(() => {}), REREAD_MS, PAUSE_MS);
  });
}

async function readKept(signal?: AbortSignal): Promise<void> {
  const [from, to] = ends();
  const answer = await ask('GET', `annotations?from=${nanos(from)}&to=${nanos(to)}`, { signal });
  const { annotations: found } = answer as { annotations: Record<string, unknown>[] };
  const read = found.map(
    ({ id, time, until, text }): Annotation => ({
      id: Number(id),
      time: Number(time) / 1e6,
      ...(typeof until === 'number' && { until: until / 1e6 }),
      text: String(text),
    }),
  );
  if (JSON.stringify(read) !== JSON.stringify(kept.peek())) kept.value = read;
}

/** More exactly than a double holds it. */
function nanos(ms: number): string {
  return String(BigInt(Math.max(0, Math.round(ms))) * 1_000_000n);
}
