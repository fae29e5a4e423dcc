import { type ReadonlySignal, useComputed } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { keepSame } from '../state/same_computed.ts';
import { isSame } from '../wire/same.ts';

/** Returns a computed signal of a component, which keeps its value while an equal one is computed. */
export function useSame<T>(compute: () => T): ReadonlySignal<T> {
  const latest = useRef(compute);
  latest.current = compute;
  const kept = useRef<() => T>();
  kept.current ??= keepSame(() => latest.current());
  return useComputed(kept.current);
}

/** Returns the value of an earlier drawing while an equal one is given. */
export function useSameValue<T>(value: T): T {
  const last = useRef(value);
  if (!isSame(last.current, value)) last.current = value;
  return last.current;
}
