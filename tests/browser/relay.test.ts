import type { Browser } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { closeVisits, sharedBrowser, Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { untilItCanGoOn } from './harness/site.ts';

let browser: Browser;
let started: Oasis[];

/** Starts a process that ends with the test. */
async function run(process: Promise<Oasis>): Promise<Oasis> {
  const oasis = await process;
  started.push(oasis);
  return oasis;
}

beforeEach(async () => {
  started = [];
  browser = await sharedBrowser();
});

afterEach(async () => {
  await closeVisits();
  for (const oasis of started.reverse()) await oasis.stop();
});

it('shows the nodes of all DACs in one tree, and goes on at another relay without loss', async () => {
  const hall1 = await run(Oasis.dac({}, '--dac-name', 'hall-1'));
  const hall2 = await run(Oasis.dac({}, '--tem', hall1.url, '--dac-name', 'hall-2'));
  await run(Oasis.node(hall1.channel, '--name', 'mill', '--probe', 'processor@20'));
  const plant = await run(Oasis.node(hall2.channel, '--name', 'plant-7', '--probe', 'processor@20'));
  const relay = await run(Oasis.relay({}, '--tem', hall1.url));
  const visit = await Visit.to(browser, `${relay.url}/#watch=plant-7/processor`, {
    viewport: { width: 1366, height: 768 },
  });
  const { page } = visit;
  const path = (node: string) =>
    page.locator(`[data-testid=node][data-node=${node}]`).getByTestId('node-path');
  await expect.poll(() => path('mill').textContent()).toBe(' \u00b7 at hall-1');
  await expect.poll(() => path('plant-7').textContent()).toBe(' \u00b7 at hall-2');
  expect(await path('plant-7').getAttribute('title')).toMatch(/^hall-2: clock .* ms, round trip .* ms$/);
  await visit.seesSamples('processor', 5);
  await visit.screenshot('relay');

  // Another relay at the same address, with other topics and offsets.
  await relay.kill();
  await run(Oasis.relay({ listen: relay.listen }, '--tem', hall1.url));
  await visit.seesSamples('processor', 5);
  await expect.poll(() => visit.part('processor', 'missing').textContent()).toBe('0');

  await plant.stop();
  const state = page.locator('[data-testid=node][data-node=plant-7]').getByTestId('node-state');
  await expect.poll(() => state.textContent()).toBe('Offline');
});

it('goes on at another relay by itself, with all samples of the last minute', async () => {
  const tem = await run(Oasis.tem());
  const hall = await run(Oasis.dac({}, '--tem', tem.url, '--dac-name', 'hall-1'));
  await run(Oasis.node(hall.channel, '--name', 'plant-7', '--probe', 'processor@20'));
  const [first, second] = [
    await run(Oasis.relay({}, '--tem', tem.url, '--dac-name', 'relay-1')),
    await run(Oasis.relay({}, '--tem', tem.url, '--dac-name', 'relay-2')),
  ];
  const visit = await Visit.to(browser, `${first.url}/#watch=plant-7/processor`);
  await visit.seesSamples('processor', 20);
  await untilItCanGoOn(visit.page);
  const number = async (part: string) =>
    Number((await visit.part('processor', part).textContent())?.replace(/\D/g, ''));
  const before = await number('sequence');
  await first.kill();
  await expect.poll(() => visit.page.url().startsWith(second.url)).toBe(true);
  await visit.seesSamples('processor', 3);
  await expect.poll(() => visit.part('processor', 'missing').textContent()).toBe('0');
  // The relay has asked the DAC for what its own log did not have.
  expect(await number('received')).toBeGreaterThan(before);
});
