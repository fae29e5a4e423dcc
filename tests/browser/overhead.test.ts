import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { closeVisits, sharedBrowser, Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { Oasis } from './harness/oasis.ts';

// A budget that no node can meet, and a recorder that only a command triggers.
const CONFIGURATION = `
[node]
overhead_budget = 0.000001
probes = [
  { probe = "processor", hertz = 100 },
  { probe = "memory", hertz = 64, importance = 255, record = { before_s = 2, after_s = 600 } },
]
`;

let folder: string;
let browser: Browser;
let oasis: Oasis;
let visit: Visit;

beforeAll(async () => {
  folder = temporaryFolder();
  const file = join(folder, 'oasis.toml');
  await writeFile(file, CONFIGURATION);
  [oasis, browser] = await Promise.all([Oasis.up('--config', file), sharedBrowser()]);
  visit = await Visit.to(browser, oasis.url);
});

afterAll(async () => {
  await visit.close();
  await closeVisits();
  await oasis.stop();
});

/** Activates the tab of a panel. */
async function openTab(title: string): Promise<void> {
  await visit.page.locator('.dv-default-tab-content').getByText(title, { exact: true }).click();
}

it('shows the overhead of a node, and the probes with a lowered rate', async () => {
  const { page } = visit;
  const overhead = page.getByTestId('node-overhead');
  await expect.poll(() => overhead.textContent()).toMatch(/ overhead$/);
  expect(await overhead.getAttribute('title')).toContain('The budget is');
  const processor = page.locator('[data-testid=instance][data-instance=processor]');
  await expect.poll(() => processor.getByTestId('instance-slowed').textContent()).toMatch(/ of 100 Hz$/);
});

/** The ledger's path of the instance with a flight recorder. */
const path = () => visit.page.locator('[data-testid=ledger-path][data-instance=memory]');

it('shows where samples are before a flight recorder is triggered', async () => {
  await visit.page.keyboard.press('b');
  await expect
    .poll(() => path().textContent())
    .toMatch(/^[1-9].* \u2192 0 received by the DAC \u2192 0 received here/);
  expect(await path().getByTestId('ledger-cause').allTextContents()).toEqual([
    expect.stringMatching(/^\d+: in the flight recorder, or kept back by it/),
  ]);
  // The page asks every 2 s, as long as the recorder's memory: two answers later, it has kept samples back.
  for (let answers = 0; answers < 2; answers++) {
    const before = await path().textContent();
    await expect.poll(() => path().textContent()).not.toBe(before);
  }
});

it('triggers a flight recorder, and shows the cause of the samples that it kept back', async () => {
  await openTab('memory');
  await expect.poll(() => visit.part('memory', 'card-state').getAttribute('data-state')).toBe('armed');
  await visit.part('memory', 'trigger').click();
  await expect.poll(() => visit.part('memory', 'command-status').getAttribute('data-status')).toBe('done');
  await visit.seesSamples('memory', 2);
  await openTab('Ledger');
  await expect
    .poll(() => path().locator('[data-cause=kept_back]').textContent())
    .toMatch(/^\d+: the probe's flight recorder kept them back because no trigger fired near them$/);
  // This is no loss, and is not shown as one.
  await openTab('memory');
  expect(await visit.part('memory', 'missing').textContent()).toBe('0');
  expect(visit.complaints).toEqual([]);
});
