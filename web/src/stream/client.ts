import type { Wish } from './protocol.ts';
import type { Query, ViewResult } from './query.ts';
import type { PageMessage, Snapshot, Target } from './view.ts';

/** The page's end of the worker. */
export class StreamClient {
  private readonly worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });

  private readonly buffers = new Map<number, ArrayBuffer>();

  constructor(apply: (snapshot: Snapshot) => void) {
    this.worker.onmessage = (event: MessageEvent<Snapshot>) => {
      apply(event.data);
      // Asking for more once this is on the screen keeps a slow page from being buried.
      const done = this.supersede(event.data.views ?? []);
      drawn(() => this.post({ op: 'drawn', buffers: done }, done));
    };
  }

  /** `page` is the address of the page without its fragment. */
  start(page: URL): void {
    this.post({ op: 'start', page: page.href });
  }

  watch(target: Target): void {
    this.post({ op: 'watch', target });
  }

  unwatch(target: Target): void {
    this.post({ op: 'unwatch', target });
  }

  command(target: Target, wish: Wish): void {
    this.post({ op: 'command', target, wish });
  }

  show(id: number, query: Query): void {
    this.post({ op: 'show', id, query });
  }

  hide(id: number): void {
    this.buffers.delete(id);
    this.post({ op: 'hide', id });
  }

  /** A view's buffer is drawn from until its next one comes; then the worker may fill it again. */
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

/** A page that nobody sees draws nothing, but its alarms count, and its title tells them. */
const UNSEEN_MS = 1000;

/** Calls back once what was applied is on the screen, or would be. */
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
