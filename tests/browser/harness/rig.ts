import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { closeVisits, type LaunchOptions, launch, sharedBrowser, Visit } from './browser.ts';
import type { Oasis } from './oasis.ts';

/**
 * An OASIS process and a browser for all tests of a file: they start before later hooks and end after them. Without options, the
 * browser is that of the worker.
 */
export class Rig {
  private running: readonly [Oasis, Browser] | undefined;

  constructor(start: () => Promise<Oasis>, options?: LaunchOptions) {
    beforeAll(async () => {
      this.running = await Promise.all([start(), options ? launch(options) : sharedBrowser()]);
    });
    afterAll(async () => {
      if (options) await this.browser.close();
      else await closeVisits();
      await this.oasis.stop();
    });
  }

  get oasis(): Oasis {
    return this.all[0];
  }

  get browser(): Browser {
    return this.all[1];
  }

  /** Opens the page; `fragment` chooses what it shows. */
  visit(fragment = '', options?: BrowserContextOptions): Promise<Visit> {
    return Visit.to(this.browser, `${this.oasis.url}${fragment}`, options);
  }

  private get all(): readonly [Oasis, Browser] {
    if (!this.running) throw new Error('nothing was started yet');
    return this.running;
  }
}
