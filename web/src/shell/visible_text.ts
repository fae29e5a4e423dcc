import { options } from 'preact';
import { visible } from '../text/visible.ts';

const NAMED = ['title', 'aria-label', 'placeholder', 'label'] as const;

/**
 * Makes hidden characters visible in everything that the page shows, and in its tips and labels: names, comments and
 * values come from outside, and no component can forget them here. Call it once, before the first rendering.
 *
 * A signal that is a child of an element bypasses this: a text from outside has to be `signal.value`.
 */
export function showHiddenCharacters(): void {
  const before = options.vnode;
  options.vnode = (node) => {
    // Text in an element becomes such a node; its type knows elements only.
    const { type, props }: { type: unknown; props: unknown } = node;
    if (type === null && typeof props === 'string') Object.assign(node, { props: visible(props) });
    else if (typeof type === 'string') showNamed(props as Record<string, unknown>);
    before?.(node);
  };
}

/** The properties are those of this rendering alone. */
function showNamed(props: Record<string, unknown>): void {
  for (const name of NAMED) {
    const text = props[name];
    if (typeof text === 'string') props[name] = visible(text);
  }
}
