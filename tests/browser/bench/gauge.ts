import { readFileSync } from 'node:fs';
import type { Browser, CDPSession } from 'playwright-core';
import type { Visit } from '../harness/browser.ts';

/** Measures the cost of a page by the DevTools protocol. */
export class Gauge {
  private constructor(
    private readonly visit: Visit,
    private readonly page: CDPSession,
    private readonly renderers: readonly number[],
  ) {}

  static async of(browser: Browser, visit: Visit): Promise<Gauge> {
    const page = await visit.page.context().newCDPSession(visit.page);
    await page.send('Performance.enable');
    const whole = await browser.newBrowserCDPSession();
    const { processInfo } = await whole.send('SystemInfo.getProcessInfo');
    const renderers = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
    return new Gauge(visit, page, renderers);
  }

  /**
   * Returns frames per second and the longest time between two, over so many seconds, and the load of the page's thread,
   * of 1.
   */
  async frames(seconds: number): Promise<{ fps: number; longest: number; busy: number }> {
    const before = await this.metric('TaskDuration');
    const [fps, longest] = await this.visit.page.evaluate(async (length) => {
      const began = performance.now();
      let frames = 0;
      let longest = 0;
      let last = began;
      while (last - began < length) {
        const now = await new Promise<number>(requestAnimationFrame);
        longest = Math.max(longest, now - last);
        last = now;
        frames++;
      }
      return [(1000 * frames) / (last - began), longest] as const;
    }, seconds * 1000);
    return { fps, longest, busy: ((await this.metric('TaskDuration')) - before) / seconds };
  }

  /** Heap of the page after a collection, in MiB. {@link resident} includes the worker's. */
  async heap(): Promise<number> {
    await this.page.send('HeapProfiler.collectGarbage');
    return (await this.metric('JSHeapUsedSize')) / 2 ** 20;
  }

  /** Memory of the renderer's processes, worker included, in MiB. */
  resident(): number {
    const pages = this.renderers.map((pid) =>
      Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]),
    );
    return (pages.reduce((sum, count) => sum + count, 0) * 4096) / 2 ** 20;
  }

  private async metric(wanted: string): Promise<number> {
    const { metrics } = await this.page.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN;
  }
}
