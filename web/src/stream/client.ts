import type { Wish } from './protocol.ts';
import type { PageMessage, Snapshot, Target } from './view.ts';

/** The page's end of the worker. */
export class StreamClient {
  private readonly worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });

  constructor(apply: (snapshot: Snapshot) => void) {
    this.worker.onmessage = (event: MessageEvent<Snapshot>) => {
      apply(event.data);
      // Asking for more once this is on the screen keeps a slow page from being buried.
      requestAnimationFrame(() => this.post({ op: 'drawn' }));
    };
  }

  start(page: URL): void {
    const url = new URL('ws', page);
    url.protocol = page.protocol === 'https:' ? 'wss:' : 'ws:';
    url.hash = '';
    url.search = '';
    this.post({ op: 'start', url: url.href, health: new URL('healthz', page).href });
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

  private post(message: PageMessage): void {
    this.worker.postMessage(message);
  }
}
