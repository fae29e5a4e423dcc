import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { temporaryFolder } from './folder.ts';
import { type Addresses, Oasis } from './oasis.ts';

/** A TEM, and two DACs that relay each other: the page of each has the nodes of both. */
export class Site {
  readonly dacs: Oasis[] = [];
  private readonly addresses: Addresses[] = [];
  private readonly others: Oasis[] = [];

  private constructor(
    readonly tem: Oasis,
    private readonly config: string,
  ) {}

  static async start(): Promise<Site> {
    const tem = await Oasis.tem();
    const config = join(temporaryFolder(), 'oasis.toml');
    writeFileSync(config, `[relay]\ntem = "${tem.url}"\n`);
    const site = new Site(tem, config);
    for (const number of [0, 1]) {
      await site.startDac(number);
      const { listen, channel } = site.dacs[number];
      site.addresses[number] = { listen, channel };
    }
    return site;
  }

  /** Starts a DAC, where it was before if it was killed. */
  async startDac(number: number): Promise<void> {
    this.dacs[number] = await Oasis.dac(
      this.addresses[number] ?? {},
      ...['--config', this.config, '--tem', this.tem.url, '--dac-name', `hall-${number + 1}`],
    );
  }

  /** Starts a process that ends with the site. */
  async run(process: Promise<Oasis>): Promise<Oasis> {
    const oasis = await process;
    this.others.push(oasis);
    return oasis;
  }

  /** A node that finds its DAC by the TEM. */
  node(...args: string[]): Promise<Oasis> {
    return this.run(Oasis.nodeByTem(this.tem.url, ...args));
  }

  /** Waits until each DAC has the node, and so relays the other. */
  async untilBothHave(node: string): Promise<void> {
    for (const dac of this.dacs) {
      await until(async () => {
        const { nodes } = await json(`${dac.url}/api/v1/nodes`);
        return (nodes as { name: string; state: string }[]).some(
          ({ name, state }) => name === node && state === 'online',
        );
      });
    }
  }

  async stop(): Promise<void> {
    for (const oasis of [...this.others.reverse(), ...this.dacs, this.tem]) await oasis.stop();
  }
}

/** Waits until the page could go on elsewhere: it has the list, and the worker that asks. */
export async function untilItCanGoOn(page: Page): Promise<void> {
  await until(async () => page.workers().some((worker) => worker.url().endsWith('/other-pages/scout.js')));
}

const PATIENCE_MS = 60_000;

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('it has not come true in time');
}

async function json(url: string): Promise<Record<string, unknown>> {
  return (await (await fetch(url)).json()) as Record<string, unknown>;
}
