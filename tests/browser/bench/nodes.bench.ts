import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Visit } from '../harness/browser.ts';
import { Oasis } from '../harness/oasis.ts';
import { PlainNode } from '../harness/plain_node.ts';
import { Rig } from '../harness/rig.ts';

/**
 * Benchmark of the list of nodes (docs/evidence/performance-measured.md, "The page"): the time from the navigation until the list has all of
 * them. `BENCH_NODES` is how many there are, `BENCH_OPENINGS` how often the page is opened.
 */
const NODES = Number(process.env.BENCH_NODES ?? 10_000);
const OPENINGS = Number(process.env.BENCH_OPENINGS ?? 9);
/** Nodes that connect at the same time. */
const MAX_CONNECTING_NODES = 50;
/** A DAC gives up a node that is silent for 5 s. */
const PING_MS = 3000;

const folder = mkdtempSync(join(tmpdir(), 'oasis-bench-nodes-'));
const config = join(folder, 'oasis.toml');
writeFileSync(config, `[channel]\nmax_connections = ${NODES + 100}\nmax_nodes = ${NODES + 100}\n`);

const rig = new Rig(() => Oasis.dac({}, '--config', config));
const nodes: PlainNode[] = [];
const instances = [
  {
    name: 'load',
    schema: {
      name: 'Bench::Load',
      uuid: randomUUID(),
      version: '1.0',
      metrics: [{ name: 'load', type: 'real64', unit: '%' }],
    },
    hertz: 1,
  },
];

beforeAll(async () => {
  for (let first = 0; first < NODES; first += MAX_CONNECTING_NODES) {
    const names = Array.from(
      { length: Math.min(MAX_CONNECTING_NODES, NODES - first) },
      (_, index) => `node-${String(first + index).padStart(5, '0')}`,
    );
    const started = names.map((name) => PlainNode.start(rig.oasis.channel, name, instances, PING_MS));
    nodes.push(...(await Promise.all(started)));
  }
}, 600_000);

afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  rmSync(folder, { recursive: true });
}, 120_000);

interface Opening {
  /** Milliseconds from the navigation until the page has its first entry of the list, and until it has all. */
  readonly first: number;
  readonly all: number;
  /** Until the document was loaded. */
  readonly loaded: number;
}

it(`${NODES} nodes in the list`, async () => {
  const openings: Opening[] = [];
  for (let number = 0; number < OPENINGS; number++) {
    const visit = await Visit.to(rig.browser, 'about:blank');
    await visit.page.addInitScript(watchList, String(NODES));
    await visit.page.goto(rig.oasis.url);
    openings.push(await listed(visit.page));
    if (number === 0) await visit.screenshot('bench-nodes');
    await visit.close();
  }
  for (const part of ['loaded', 'first', 'all'] as const) {
    const times = openings.map((opening) => opening[part]).sort((one, other) => one - other);
    const [least, median, most] = [times[0], times[times.length >> 1], times[times.length - 1]];
    console.info(
      `${NODES} nodes, ${part}: ${median.toFixed(0)} ms (${least.toFixed(0)} to ${most.toFixed(0)})`,
    );
  }
  expect(openings).toHaveLength(OPENINGS);
});

type Watched = Window & { listed?: Partial<Opening> };

/** Notes when the list has an entry, and when its count is complete. Runs in the page. */
function watchList(count: string): void {
  const times: { -readonly [key in keyof Opening]?: number } = {};
  (window as Watched).listed = times;
  const complete = new RegExp(`of ${count} watched$`);
  const look = () => {
    times.first ??= document.querySelector('[data-testid=node]') ? performance.now() : undefined;
    const text = document.querySelector('[data-testid=tree-count]')?.textContent ?? '';
    if (times.first === undefined || !complete.test(text)) return;
    watcher.disconnect();
    // The frame after the change is the one on the screen.
    requestAnimationFrame(() =>
      setTimeout(() => {
        times.all = performance.now();
      }),
    );
  };
  const watcher = new MutationObserver(look);
  watcher.observe(document, { subtree: true, childList: true, characterData: true });
}

async function listed(page: Page): Promise<Opening> {
  await page.waitForFunction(() => (window as Watched).listed?.all !== undefined, undefined, {
    timeout: 60_000,
  });
  return page.evaluate(() => {
    const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    return { ...(window as Watched).listed, loaded: navigation.domContentLoadedEventEnd } as Opening;
  });
}
