import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { closeVisits, sharedBrowser, Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { BINARY, LOADED, Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';

/** An archive with many nodes from long ago, and one node that is online. */

const OLD = 30;
const DAY = 24 * 3_600_000;
const AGO = 16.5 * DAY;

const TIDE = {
  name: 'Tide',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [{ name: 'level', type: 'real64', unit: 'm', kind: 'gauge', min: 0, max: 100 }],
};

let folder: string;
let browser: Browser;
let dac: Oasis;
let here: PlainNode;
let visit: Visit;

beforeAll(async () => {
  folder = temporaryFolder();
  browser = await sharedBrowser();
  const [recorded, archive] = [join(folder, 'recorded'), join(folder, 'archive')];
  dac = await Oasis.dacWithoutRules('--archive', recorded);
  const then = Date.now() - AGO;
  for (let number = 0; number < OLD; number++) {
    const name = `buoy-${String(number).padStart(2, '0')}`;
    const node = await PlainNode.start(dac.channel, name, [{ name: 'tide', schema: TIDE, hertz: 1 }]);
    const times = Array.from({ length: 60 }, (_, second) => then + second * 1000 - number * DAY);
    node.flush('tide', times, [Float64Array.from(times, () => 40 + number)]);
    await vi.waitFor(async () => expect(await dac.received()).toBe(60 * (number + 1)), LOADED);
    await node.stop();
  }
  expect((await fetch(`${dac.url}/api/v1/archive/flush`, { method: 'POST' })).ok).toBe(true);
  await dac.stop();
  // Imported nodes were last seen at the time of their samples.
  const file = join(folder, 'old.mcap');
  execFileSync(BINARY, ['export', '--archive', recorded, '--format', 'mcap', '-o', file]);
  execFileSync(BINARY, ['import', '--archive', archive, '--name', 'old', file]);
  dac = await Oasis.dacWithoutRules('--archive', archive);
  here = await PlainNode.start(dac.channel, 'pier', [{ name: 'tide', schema: TIDE }]);
  here.flush('tide', [Date.now()], [Float64Array.of(5)]);
  visit = await Visit.to(browser, dac.url);
});

afterAll(async () => {
  await closeVisits();
  await here.stop();
  await dac.stop();
});

const part = (testId: string) => visit.page.getByTestId(testId);
const instance = (node: string) =>
  visit.page.locator(`[data-testid=instance][data-node=${JSON.stringify(node)}]`);
const card = (node: string) => visit.page.locator(`[data-testid=card][data-node=${JSON.stringify(node)}]`);

it('lists online nodes before offline ones, and shows when those were last seen', async () => {
  await expect
    .poll(() => part('gone-nodes').textContent())
    .toBe(`\u25b8${OLD} nodes offline for over an hour`);
  await expect.poll(() => part('node').count()).toBe(1);
  expect(await part('node').textContent()).toContain('pier');
  await part('gone-nodes').click();
  expect(await part('gone-nodes').getAttribute('aria-expanded')).toBe('true');
  // The newest nodes come first.
  await expect.poll(() => part('node').nth(1).textContent()).toContain('old:buoy-00');
  expect(await part('node').nth(1).textContent()).toContain('Last seen 16 d ago');
  await visit.screenshot('offline-list');
});

it('offers to show the newest sample of an offline instance while others are live', async () => {
  await expect.poll(() => card('pier').count()).toBe(1);
  await instance('old:buoy-00').click();
  const note = card('old:buoy-00').getByTestId('offline-note');
  await expect.poll(() => note.textContent()).toContain('is offline. Its newest sample was taken at 20');
  // Its values are the stored ones, whatever time is shown.
  const value = card('old:buoy-00').locator('[data-metric=level]').getByTestId('value');
  await expect.poll(() => value.textContent()).toMatch(/^40/);
  expect(await part('live').textContent()).toContain('Pause');
  // The archive stores no rate, so it is unknown.
  expect(await card('old:buoy-00').getByTestId('hertz').textContent()).toBe('Rate unknown');
  expect(await card('pier').getByTestId('hertz').textContent()).toBe('Pushed');
  await visit.screenshot('offline-note');
  await note.getByTestId('show-newest').click();
  await expect.poll(() => part('live').textContent()).toContain('Resume');
  await expect.poll(() => value.textContent()).toMatch(/^40/);
  const chart = visit.page.locator('[data-testid=series]:visible').last();
  await expect.poll(() => chart.getByTestId('legend-value').textContent()).toMatch(/^40/);
  // The live instance has nothing at that time, in its chart and in its legend.
  const other = visit.page.locator('[data-testid=series]:visible').first();
  await expect.poll(() => other.getByTestId('legend-value').textContent()).toBe('\u2013');
  expect(await part('offline-note').count()).toBe(0);
  await visit.screenshot('offline-past');
});

it('shows the newest sample by itself if nothing is live', async () => {
  const other = await Visit.to(browser, `${dac.url}#watch=`);
  await other.page.evaluate(() => {
    const layout = { oasis: 'layout', version: 1, panels: [{ id: 'p1', kind: 'ledger' }] };
    localStorage.setItem('oasis.layout', JSON.stringify(layout));
  });
  await other.page.reload();
  await other.page.getByTestId('filter').fill('buoy-07');
  await other.page.locator('[data-testid=instance][data-node="old:buoy-07"]').click();
  await expect.poll(() => other.page.getByTestId('legend-value').first().textContent()).toMatch(/^47/);
  expect(await other.page.getByTestId('live').textContent()).toContain('Resume');
  await other.screenshot('offline-alone');
  // A link to the instance does the same.
  await vi.waitFor(() => expect(other.page.url()).toContain('buoy-07'), LOADED);
  await other.page.reload();
  await expect.poll(() => other.page.getByTestId('live').textContent()).toContain('Resume');
  await expect.poll(() => other.page.getByTestId('legend-value').first().textContent()).toMatch(/^47/);
  expect(await other.page.getByTestId('time-zone').textContent()).toMatch(/\w/);
  expect(other.complaints).toEqual([]);
  expect(visit.complaints).toEqual([]);
});
