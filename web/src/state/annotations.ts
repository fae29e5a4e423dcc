import { signal } from '@preact/signals';

/** A note at a moment, for everybody who looks at this layout. */
export interface Annotation {
  /** Browser clock, milliseconds. */
  readonly time: number;
  readonly text: string;
}

export const MAX_ANNOTATIONS = 100;
export const MAX_NOTE = 200;

export const annotations = signal<readonly Annotation[]>([]);

export function annotate(time: number, text: string): void {
  const note = { time, text: text.slice(0, MAX_NOTE) };
  annotations.value = [...annotations.peek(), note].sort((a, b) => a.time - b.time).slice(-MAX_ANNOTATIONS);
}

export function removeAnnotation(annotation: Annotation): void {
  annotations.value = annotations.peek().filter((other) => other !== annotation);
}
