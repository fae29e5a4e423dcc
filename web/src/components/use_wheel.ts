import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import { pan, zoom } from '../state/time.ts';

/** The wheel over a chart: with Ctrl it zooms around the pointer, with Shift (or sideways) it moves through time. */
export function useWheel(element: RefObject<HTMLElement>): void {
  useEffect(() => {
    const place = element.current;
    if (!place) return;
    const turn = (event: WheelEvent) => {
      const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
      if (event.ctrlKey) {
        const box = (place.querySelector('.u-over') ?? place).getBoundingClientRect();
        const around = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
        zoom(event.deltaY > 0 ? 1.25 : 0.8, around > 0.97 ? 1 : around);
      } else if (sideways !== 0) {
        pan(Math.sign(sideways) * 0.08);
      } else {
        return;
      }
      event.preventDefault();
    };
    place.addEventListener('wheel', turn, { passive: false });
    return () => place.removeEventListener('wheel', turn);
  }, [element]);
}
