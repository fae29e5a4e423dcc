import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/** Calls back with the size of an element, now and whenever it changes. */
export function useSize(
  element: RefObject<HTMLElement>,
  apply: (width: number, height: number) => void,
): void {
  useLayoutEffect(() => {
    const found = element.current;
    if (!found) return;
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry.contentRect;
      if (width > 0 && height > 0) apply(Math.floor(width), Math.floor(height));
    });
    observer.observe(found);
    return () => observer.disconnect();
  }, [element, apply]);
}
