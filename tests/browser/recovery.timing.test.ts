import type { Browser } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { closeVisits, sharedBrowser, Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';

const NODE = ['--name', 'plant-7', '--probe', 'processor@20', '--probe', 'memory'];
const RECOVERY_MS = 3000;

let browser: Browser;
let dac: Oasis;
let node: Oasis;
let visit: Visit;

beforeEach(async () => {
  [dac, browser] = await Promise.all([Oasis.dac(), sharedBrowser()]);
  node = await Oasis.node(dac.channel, ...NODE);
  visit = await Visit.to(browser, dac.url);
  await visit.seesSamples('processor', 5, 10_000);
});

afterEach(async () => {
  await closeVisits();
  await node.stop();
  await dac.stop();
});

interface Ledger {
  readonly instances: {
    readonly instance: string;
    readonly ledger: { readonly unexplained: number; readonly received: number };
  }[];
}

async function unexplainedByDac(): Promise<Record<string, number>> {
  const ledger = (await (await fetch(`${dac.url}/api/v1/ledger`)).json()) as Ledger;
  expect(ledger.instances.length).toBeGreaterThan(0);
  return Object.fromEntries(ledger.instances.map(({ instance, ledger }) => [instance, ledger.unexplained]));
}

it('reconnects when the DAC is killed, and shows its restart', async () => {
  await dac.kill();
  await expect.poll(() => visit.page.getByTestId('banner').count()).toBe(1);
  expect(await visit.part('processor', 'card-state').getAttribute('data-state')).toBe('lost');
  const age = () => visit.part('processor', 'age').textContent();
  const before = await age();
  await expect.poll(age).not.toBe(before);
  await visit.screenshot('lost');

  dac = await Oasis.dac({ listen: dac.listen, channel: dac.channel });
  const restarted = performance.now();
  await visit.seesSamples('processor', 3, RECOVERY_MS);
  console.info(`recovered ${Math.round(performance.now() - restarted)} ms after the DAC's restart`);
  expect(await visit.page.getByTestId('banner').count()).toBe(0);
  await expect
    .poll(() => visit.card('processor').locator('[data-cause=epoch_changed]').count())
    .toBeGreaterThan(0);
  expect(await visit.part('processor', 'unexplained').count()).toBe(0);
  expect(await unexplainedByDac()).toEqual({ processor: 0, memory: 0 });
  await visit.screenshot('recovered');
  expect(visit.ownComplaints()).toEqual([]);
});

it('shows moving values again after the node was killed and restarted', async () => {
  await node.kill();
  await expect.poll(() => visit.part('processor', 'card-state').getAttribute('data-state')).toBe('offline');
  node = await Oasis.node(dac.channel, ...NODE);
  const restarted = performance.now();
  await visit.seesSamples('processor', 3, RECOVERY_MS);
  console.info(`recovered ${Math.round(performance.now() - restarted)} ms after the node's restart`);
  await expect.poll(() => visit.part('processor', 'card-state').getAttribute('data-state')).toBe('live');
  expect(await visit.card('processor').locator('[data-cause=node_restart]').count()).toBe(1);
  expect(await visit.part('processor', 'unexplained').count()).toBe(0);
  expect(await unexplainedByDac()).toEqual({ processor: 0, memory: 0 });
  await visit.screenshot('node-restart');
  expect(visit.ownComplaints()).toEqual([]);
});
