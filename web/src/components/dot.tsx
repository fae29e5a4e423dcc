export type Tone = 'good' | 'warn' | 'bad' | 'idle';

/** A state as a color and a shape. The words stand beside it: color alone says nothing to many. */
export function Dot({ tone }: { tone: Tone }) {
  return <span class={`dot dot-${tone}`} aria-hidden="true" />;
}
