import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launch, Visit } from '../harness/browser.ts';
import { Oasis } from '../harness/oasis.ts';
import { Site, untilItCanGoOn } from '../harness/site.ts';

/**
 * Benchmark of a page at a relay while the DAC of its node is killed, and of pages that switch to another DAC because their own is killed, again and
 * again (docs/evidence/failover.md). `BENCH_KILLS` is how often, `BENCH_SEED` the seed of the moments.
 */
const KILLS = Number(process.env.BENCH_KILLS ?? 30);
const SEED = Number(process.env.BENCH_SEED ?? 1);
/** Samples a second: the page draws them 30 times a second. */
const HERTZ = 100;
const SEQUENCE = '[data-instance=heartbeat] [data-testid=sequence]';
/** For so long the outage of a kill is looked for. */
const WINDOW_MS = 4000;

let browser: Awaited<ReturnType<typeof launch>>;
let visit: Visit;
let tem: Oasis;
const dacs: Oasis[] = [];
const others: Oasis[] = [];
const addresses: { listen: string; channel: string }[] = [];

const start = (number: number) =>
  Oasis.dac(addresses[number], '--tem', tem.url, '--dac-name', `hall-${number}`);

beforeAll(async () => {
  browser = await launch();
  tem = await Oasis.tem();
  for (const number of [0, 1]) {
    dacs[number] = await start(number);
    addresses[number] = { listen: dacs[number].listen, channel: dacs[number].channel };
  }
  others.push(await Oasis.nodeByTem(tem.url, '--name', 'plant', '--probe', `heartbeat@${HERTZ}`));
  const relay = await Oasis.relay({}, '--tem', tem.url);
  others.push(relay);
  visit = await Visit.to(browser, `${relay.url}/#watch=plant/heartbeat`);
  await visit.seesSamples('heartbeat', 20);
}, 120_000);

afterAll(async () => {
  await browser.close();
  for (const oasis of [...others.reverse(), ...dacs, tem]) await oasis.stop();
});

it(`${KILLS} kills of the DAC behind a relay`, { timeout: KILLS * 15_000 }, async () => {
  const random = randomOf(SEED);
  await visit.page.evaluate(watchNumber, SEQUENCE);
  const times: number[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    await new Promise((resolve) => setTimeout(resolve, 500 + 700 * random()));
    const home = await homeOfNode();
    const killed = Date.now();
    await dacs[home].kill();
    await visit.page.waitForTimeout(WINDOW_MS);
    times.push(await outage(visit.page, killed));
    dacs[home] = await start(home);
  }
  times.sort((one, other) => one - other);
  const at = (share: number) => times[Math.floor((times.length - 1) * share)].toFixed(0);
  const missing = await visit.part('heartbeat', 'missing').textContent();
  console.info(
    `${KILLS} kills, seed ${SEED}: samples on the page again after p50 ${at(0.5)}, p99 ${at(0.99)}, most ${at(1)} ms; missing ${missing}`,
  );
  expect(times).toHaveLength(KILLS);
});

it(`${KILLS} kills of the DAC that serves the page`, { timeout: KILLS * 60_000 }, async () => {
  const random = randomOf(SEED);
  const site = await Site.start();
  await site.node('--name', 'plant', '--probe', `heartbeat@${HERTZ}`);
  const [left, times, missing]: [number[], number[], number[]] = [[], [], []];
  for (let kill = 0; kill < KILLS; kill++) {
    await site.untilBothHave('plant');
    const own = kill % 2;
    const guest = await Visit.to(browser, `${site.dacs[own].url}/#watch=plant/heartbeat`);
    await guest.seesSamples('heartbeat', 20);
    await untilItCanGoOn(guest.page);
    await guest.page.waitForTimeout(500 + 700 * random());
    const killed = Date.now();
    await site.dacs[own].kill();
    const seen = numberIn(await guest.part('heartbeat', 'sequence').textContent());
    // Before the page leaves, which takes 0.7 s at least.
    await guest.page.context().addInitScript(noteNewSample, { selector: SEQUENCE, seen });
    const arrived = await guest.page.waitForFunction(() => (window as Arrived).newSample);
    times.push(((await arrived.jsonValue()) ?? Number.NaN) - killed);
    left.push((await guest.page.evaluate(() => performance.timeOrigin)) - killed);
    missing.push(numberIn(await guest.part('heartbeat', 'missing').textContent()));
    await guest.close();
    await site.startDac(own);
  }
  await site.stop();
  const at = (all: number[], share: number) =>
    all.sort((one, other) => one - other)[Math.floor((all.length - 1) * share)].toFixed(0);
  console.info(
    `${KILLS} kills, seed ${SEED}: the page left after p50 ${at(left, 0.5)}, most ${at(left, 1)} ms; new samples on the page after p50 ${at(times, 0.5)}, most ${at(times, 1)} ms; missing ${missing.join(' ')}`,
  );
  expect(times).toHaveLength(KILLS);
});

/** A number as the page writes it, with spaces between thousands. */
function numberIn(text: string | null): number {
  return Number(text?.replace(/\D/g, ''));
}

type Arrived = Window & { newSample?: number };

/** Notes when a later sequence number is on the page, milliseconds since 1970. Runs in each page that opens. */
function noteNewSample({ selector, seen }: { selector: string; seen: number }): void {
  const look = () => {
    const text = document.querySelector(selector)?.textContent ?? '';
    if (Number(text.replace(/\D/g, '')) > seen) (window as Arrived).newSample = Date.now();
    else requestAnimationFrame(look);
  };
  look();
}

/** The DAC to which the node is connected. */
async function homeOfNode(): Promise<number> {
  for (;;) {
    for (const number of [0, 1]) {
      const answer = await fetch(`${dacs[number].url}/api/v1/nodes`);
      const { nodes } = (await answer.json()) as { nodes: { state: string }[] };
      if (nodes[0]?.state === 'online') return number;
    }
  }
}

type Watched = Window & { changes?: number[] };

/** Notes when the sequence number on the page changes, milliseconds since 1970. Runs in the page. */
function watchNumber(selector: string): void {
  const changes: number[] = [];
  (window as Watched).changes = changes;
  let before = '';
  const look = () => {
    const text = document.querySelector(selector)?.textContent ?? '';
    if (text !== before) {
      before = text;
      changes.push(Date.now());
      if (changes.length > 10_000) changes.splice(0, 5_000);
    }
    requestAnimationFrame(look);
  };
  look();
}

/** Milliseconds from a kill until the end of the longest pause after it. */
async function outage(page: Page, killed: number): Promise<number> {
  const changes = await page.evaluate(() => (window as Watched).changes ?? []);
  let [longest, end] = [0, Number.NaN];
  for (const [index, at] of changes.entries()) {
    const before = changes[index - 1];
    if (before === undefined || at < killed || at - before <= longest) continue;
    [longest, end] = [at - before, at];
  }
  return end - killed;
}

/** Numbers from 0 to 1 that repeat with the seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
