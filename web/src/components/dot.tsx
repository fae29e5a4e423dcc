export type Tone = 'good' | 'warn' | 'bad' | 'idle';

/** A state as a color and a shape. The word stands beside it, because many people cannot distinguish colors. */
export function Dot({ tone }: { tone: Tone }) {
  return <span class={`dot dot-${tone}`} aria-hidden="true" />;
}
