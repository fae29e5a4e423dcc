import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import { orbited, type PoseView, panned, zoomed } from './pose_camera.ts';

/** Changes a view of poses by pointers, wheel and keys. */
export interface PoseControl {
  readonly view: PoseView;
  readonly height: number;
  /** Looks from another direction. */
  turn(view: PoseView): void;
  move(view: PoseView): void;
  /** Shows all trails. */
  fit(): void;
  /** Reports the place of the pointer in pixels; undefined if it left. */
  pointed(place: readonly [x: number, y: number] | undefined): void;
}

const KEY_STEP = 30;
const KEY_ZOOM = 1.5;
const WHEEL_ZOOM = 0.0015;
/** Pixels of a line, for wheels that count lines. */
const LINE_PIXELS = 16;
const RIGHT_BUTTON = 2;

/** Pointers turn, two of them zoom and move; arrows, plus and minus do it with keys, 0 fits. */
export function usePoseGestures(element: RefObject<HTMLElement>, control: RefObject<PoseControl>): void {
  useEffect(() => {
    const place = element.current;
    if (!place) return;
    const gestures = new PoseGestures(place, () => control.current ?? undefined);
    return () => gestures.end();
  }, [element, control]);
}

class PoseGestures {
  private readonly pointers = new Map<number, readonly [x: number, y: number]>();
  private readonly stop = new AbortController();

  constructor(
    private readonly place: HTMLElement,
    private readonly control: () => PoseControl | undefined,
  ) {
    const options = { signal: this.stop.signal };
    place.addEventListener('pointerdown', (event) => this.down(event), options);
    place.addEventListener('pointermove', (event) => this.drag(event), options);
    for (const name of ['pointerup', 'pointercancel'] as const)
      place.addEventListener(name, ({ pointerId }) => this.pointers.delete(pointerId), options);
    place.addEventListener('pointerleave', () => this.control()?.pointed(undefined), options);
    place.addEventListener('wheel', (event) => this.wheel(event), { ...options, passive: false });
    place.addEventListener('contextmenu', (event) => event.preventDefault(), options);
    place.addEventListener('keydown', (event) => this.key(event), options);
  }

  end(): void {
    this.stop.abort();
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0 && event.button !== RIGHT_BUTTON) return;
    // A captured pointer would click the drawing instead of the button in it.
    if (event.target instanceof Element && event.target.closest('button')) return;
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    this.place.setPointerCapture(event.pointerId);
  }

  private drag(event: PointerEvent): void {
    const control = this.control();
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      const box = this.place.getBoundingClientRect();
      control?.pointed([event.clientX - box.left, event.clientY - box.top]);
      return;
    }
    const now = [event.clientX, event.clientY] as const;
    this.pointers.set(event.pointerId, now);
    if (!control) return;
    const [right, down] = [now[0] - before[0], now[1] - before[1]];
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const spread = (point: readonly [number, number]) =>
        Math.hypot(point[0] - other[0], point[1] - other[1]);
      const factor = spread(before) > 0 ? spread(now) / spread(before) : 1;
      control.move(zoomed(panned(control.view, [right / 2, down / 2], control.height), factor || 1));
    } else if (event.shiftKey || (event.buttons & RIGHT_BUTTON) !== 0)
      control.move(panned(control.view, [right, down], control.height));
    else control.turn(orbited(control.view, right, down));
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PIXELS : 1);
    this.zoom(Math.exp(-pixels * WHEEL_ZOOM));
  }

  private key(event: KeyboardEvent): void {
    const control = this.control();
    if (!control || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[event.key];
    if (step) {
      const [right, down] = step.map((part) => part * KEY_STEP);
      // The view moves in the direction of the key.
      if (event.shiftKey) control.move(panned(control.view, [-right, -down], control.height));
      else control.turn(orbited(control.view, right, down));
    } else if (event.key === '+' || event.key === '=') this.zoom(KEY_ZOOM);
    else if (event.key === '-') this.zoom(1 / KEY_ZOOM);
    else if (event.key === '0') control.fit();
    else return;
    // The page uses these keys for time.
    event.preventDefault();
    event.stopPropagation();
  }

  private zoom(factor: number): void {
    const control = this.control();
    if (control) control.move(zoomed(control.view, factor));
  }
}

/** The direction in which a pointer would drag. */
const STEPS: Readonly<Record<string, readonly number[]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
