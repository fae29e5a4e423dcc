import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import { type MapView, panned, zoomed } from './projection.ts';

/** Changes a map by pointers, wheel and keys. */
export interface MapControl {
  /** The map as it is shown. */
  readonly view: MapView;
  move(view: MapView): void;
  /** Shows all tracks. */
  fit(): void;
  /** Reports the place of the pointer in pixels; undefined if it left. */
  pointed(place: readonly [x: number, y: number] | undefined): void;
}

const KEY_STEP = 60;
const KEY_ZOOM = 1.5;
const WHEEL_ZOOM = 0.0015;
/** Wheels that count lines. */
const LINE = 16;

/** Pointers drag, two of them zoom; the wheel zooms around the pointer; arrows, plus and minus do it with keys, 0 fits. */
export function useMapGestures(element: RefObject<HTMLElement>, control: RefObject<MapControl>): void {
  useEffect(() => {
    const place = element.current;
    if (!place) return;
    const gestures = new Gestures(place, () => control.current ?? undefined);
    return () => gestures.end();
  }, [element, control]);
}

class Gestures {
  private readonly pointers = new Map<number, readonly [x: number, y: number]>();
  private readonly stop = new AbortController();

  constructor(
    private readonly place: HTMLElement,
    private readonly control: () => MapControl | undefined,
  ) {
    const options = { signal: this.stop.signal };
    place.addEventListener('pointerdown', (event) => this.down(event), options);
    place.addEventListener('pointermove', (event) => this.move(event), options);
    for (const name of ['pointerup', 'pointercancel'] as const)
      place.addEventListener(name, ({ pointerId }) => this.pointers.delete(pointerId), options);
    place.addEventListener('pointerleave', () => this.control()?.pointed(undefined), options);
    place.addEventListener('wheel', (event) => this.wheel(event), { ...options, passive: false });
    place.addEventListener('dblclick', (event) => this.zoom(2, this.fromMiddle(event)), options);
    place.addEventListener('keydown', (event) => this.key(event), options);
  }

  end(): void {
    this.stop.abort();
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    this.place.setPointerCapture(event.pointerId);
  }

  private move(event: PointerEvent): void {
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      const box = this.place.getBoundingClientRect();
      this.control()?.pointed([event.clientX - box.left, event.clientY - box.top]);
      return;
    }
    const control = this.control();
    const now = [event.clientX, event.clientY] as const;
    this.pointers.set(event.pointerId, now);
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (!control) return;
    if (!other) {
      control.move(panned(control.view, now[0] - before[0], now[1] - before[1]));
      return;
    }
    const spread = (point: readonly [number, number]) => Math.hypot(point[0] - other[0], point[1] - other[1]);
    const factor = spread(before) > 0 ? spread(now) / spread(before) : 1;
    const middle = { clientX: (now[0] + other[0]) / 2, clientY: (now[1] + other[1]) / 2 };
    const moved = panned(control.view, (now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    control.move(zoomed(moved, factor, ...this.fromMiddle(middle)));
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE : 1);
    this.zoom(Math.exp(-pixels * WHEEL_ZOOM), this.fromMiddle(event));
  }

  private key(event: KeyboardEvent): void {
    const control = this.control();
    if (!control || event.ctrlKey || event.metaKey || event.altKey) return;
    const [right, down] = STEPS[event.key] ?? [0, 0];
    if (right !== 0 || down !== 0) control.move(panned(control.view, right * KEY_STEP, down * KEY_STEP));
    else if (event.key === '+' || event.key === '=') this.zoom(KEY_ZOOM, [0, 0]);
    else if (event.key === '-') this.zoom(1 / KEY_ZOOM, [0, 0]);
    else if (event.key === '0') control.fit();
    else return;
    // The page uses these keys for time.
    event.preventDefault();
    event.stopPropagation();
  }

  private zoom(factor: number, at: readonly [number, number]): void {
    const control = this.control();
    if (control) control.move(zoomed(control.view, factor, ...at));
  }

  private fromMiddle({ clientX, clientY }: { clientX: number; clientY: number }): [number, number] {
    const { left, top, width, height } = this.place.getBoundingClientRect();
    return [clientX - left - width / 2, clientY - top - height / 2];
  }
}

/** Where the ground goes: the map shows what is in the direction of the key. */
const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [1, 0],
  ArrowRight: [-1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};
