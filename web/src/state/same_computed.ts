import { computed, type ReadonlySignal } from '@preact/signals';
import { isSame } from '../wire/same.ts';

/** Returns a computed signal that keeps its value while an equal one is computed: what reads it is not notified. */
export function sameComputed<T>(compute: () => T): ReadonlySignal<T> {
  return computed(keepSame(compute));
}

/** Returns a function that returns its last value again if an equal one is computed. */
export function keepSame<T>(compute: () => T): () => T {
  let last: { readonly value: T } | undefined;
  return () => {
    const value = compute();
    if (!last || !isSame(last.value, value)) last = { value };
    return last.value;
  };
}
