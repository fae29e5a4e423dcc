export type Tone = 'good' | 'warn' | 'bad' | 'idle';

/** A state as a colour and a shape. The words stand beside it: colour alone says nothing to many. */
export function Dot({ tone }: { tone: Tone }) {
  return <span class={`dot dot-${tone}`} aria-hidden="true" />;
}
