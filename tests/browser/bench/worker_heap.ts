import type { CDPSession } from 'playwright-core';
import type { Visit } from '../harness/browser.ts';

/** MiB after a collection: JavaScript's heap, and the typed arrays beside it. */
export interface Usage {
  readonly used: number;
  readonly arrays: number;
}

interface Answer {
  readonly id?: number;
  readonly result?: Record<string, number>;
}

/** Measures the heap of a page's worker by the DevTools protocol. */
export class WorkerHeap {
  private lastId = 0;
  private readonly waiting = new Map<number, (result: Record<string, number>) => void>();

  private constructor(
    private readonly page: CDPSession,
    private readonly sessionId: string,
  ) {
    page.on('Target.receivedMessageFromTarget', ({ message }) => {
      const { id, result } = JSON.parse(message) as Answer;
      if (id === undefined) return;
      this.waiting.get(id)?.(result ?? {});
      this.waiting.delete(id);
    });
  }

  static async of(visit: Visit): Promise<WorkerHeap> {
    const page = await visit.page.context().newCDPSession(visit.page);
    const attached = new Promise<string>((resolve) => {
      page.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
        if (targetInfo.type === 'worker') resolve(sessionId);
      });
    });
    await page.send('Target.setAutoAttach', {
      autoAttach: true,
      waitForDebuggerOnStart: false,
      flatten: false,
    });
    return new WorkerHeap(page, await attached);
  }

  async usage(): Promise<Usage> {
    await this.send('HeapProfiler.collectGarbage');
    const { usedSize, backingStorageSize = Number.NaN } = await this.send('Runtime.getHeapUsage');
    return { used: usedSize / 2 ** 20, arrays: backingStorageSize / 2 ** 20 };
  }

  private async send(method: string): Promise<Record<string, number>> {
    const id = ++this.lastId;
    const answer = new Promise<Record<string, number>>((resolve) => this.waiting.set(id, resolve));
    const message = JSON.stringify({ id, method, params: {} });
    await this.page.send('Target.sendMessageToTarget', { message, sessionId: this.sessionId });
    return answer;
  }
}
