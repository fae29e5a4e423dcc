import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
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
   * Returns frames per second and the longest time between two, over `seconds`, and the load of the page's thread,
   * of 1: `busy` by the clock, with the time that it waits for a processor while other programs run, and `cpu` without.
   */
  async frames(seconds: number): Promise<{ fps: number; longest: number; busy: number; cpu: number }> {
    const before = await this.metric('TaskDuration');
    const ranBefore = this.ran();
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
    const busy = ((await this.metric('TaskDuration')) - before) / seconds;
    return { fps, longest, busy, cpu: (this.ran() - ranBefore) / seconds };
  }

  /** Processor time of the page's thread, in seconds: the first thread of its process. Other renderers are idle. */
  private ran(): number {
    const times = this.renderers.map((pid) =>
      Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]),
    );
    return times.reduce((sum, time) => sum + time, 0) / 1e9;
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

/** The load of the machine in the last minute, and the frames and loads of a measurement, as they are reported. */
export function described({ fps, longest, busy, cpu }: Awaited<ReturnType<Gauge['frames']>>): string {
  const percent = (share: number) => `${(100 * share).toFixed(0)} %`;
  return (
    `${fps.toFixed(1)} fps, longest frame ${longest.toFixed(0)} ms, ` +
    `page's thread ${percent(cpu)} of a core (${percent(busy)} by the clock), load ${loadavg()[0].toFixed(1)}`
  );
}
