import type { Target } from '../wire/target.ts';
import type { DoorName } from './doors/door.ts';
import type { Position } from './position.ts';
import type { CommandRequest } from './protocol.ts';
import type { Query, ViewResult } from './query.ts';
import type { PageMessage, Positions, Snapshot } from './view.ts';

/** Time for the worker to say where it is. */
const PATIENCE_MS = 500;

/** The page's side of the worker. */
export class StreamClient {
  private readonly worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });

  private readonly buffers = new Map<number, ArrayBuffer>();
  private onPositions: ((positions: readonly Position[]) => void) | undefined;

  constructor(apply: (snapshot: Snapshot) => void) {
    this.worker.onmessage = (event: MessageEvent<Snapshot | Positions>) => {
      if ('positions' in event.data) {
        this.onPositions?.(event.data.positions);
        return;
      }
      apply(event.data);
      // The worker sends the next snapshot only after this one is on the screen, so that a slow page is not flooded.
      const done = this.supersede(event.data.views ?? []);
      drawn(() => this.post({ op: 'drawn', buffers: done }, done));
    };
  }

  /** Starts the session; `page` is the address of the page without its fragment. */
  start(page: URL, door: DoorName | undefined): void {
    this.post({ op: 'start', page: page.href, door });
  }

  choose(door: DoorName | undefined): void {
    this.post({ op: 'choose', door });
  }

  /** `before`: where the page of another DAC has left off. */
  watch(target: Target, before?: Position): void {
    this.post({ op: 'watch', target, before });
  }

  /** Returns where the page of another DAC can continue; nothing if the worker is too busy to say so. */
  positions(): Promise<readonly Position[]> {
    return new Promise((resolve) => {
      this.onPositions = resolve;
      setTimeout(() => resolve([]), PATIENCE_MS);
      this.post({ op: 'positions' });
    });
  }

  unwatch(target: Target): void {
    this.post({ op: 'unwatch', target });
  }

  command(target: Target, request: CommandRequest): void {
    this.post({ op: 'command', target, request });
  }

  show(id: number, query: Query): void {
    this.post({ op: 'show', id, query });
  }

  hide(id: number): void {
    this.buffers.delete(id);
    this.post({ op: 'hide', id });
  }

  /** Returns the buffers that the worker may fill again: a view's buffer is drawn from until its next one arrives. */
  private supersede(views: readonly ViewResult[]): ArrayBuffer[] {
    const done: ArrayBuffer[] = [];
    for (const { id, answer } of views) {
      if (answer.kind !== 'columns') continue;
      const before = this.buffers.get(id);
      if (before) done.push(before);
      this.buffers.set(id, answer.buffer.buffer);
    }
    return done;
  }

  private post(message: PageMessage, moved: ArrayBuffer[] = []): void {
    this.worker.postMessage(message, moved);
  }
}

/** A hidden page draws nothing, but its alarms count, and its title shows them. */
const UNSEEN_MS = 1000;

/** Calls back after the next frame, or after a timeout if the page is hidden. */
function drawn(act: () => void): void {
  let isDone = false;
  const once = () => {
    if (!isDone) act();
    isDone = true;
  };
  const timer = setTimeout(once, UNSEEN_MS);
  requestAnimationFrame(() => {
    clearTimeout(timer);
    once();
  });
}
