import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { closeVisits, sharedBrowser, Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { LOADED, Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';

const TIDE = {
  name: 'Tide',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [{ name: 'level', type: 'real64', unit: 'm' }],
};

let folder: string;
let browser: Browser;
let dac: Oasis;
let node: PlainNode;
let visit: Visit;

beforeAll(async () => {
  folder = temporaryFolder();
  browser = await sharedBrowser();
  dac = await Oasis.dac({}, '--archive', folder);
  node = await PlainNode.start(dac.channel, 'harbour', [{ name: 'tide', schema: TIDE }]);
  const times = Array.from({ length: 50 }, (_, index) => Date.now() - 30_000 + index * 500);
  node.flush('tide', times, [Float64Array.from(times, (_, index) => index)], 3);
  await vi.waitFor(async () => {
    await fetch(`${dac.url}/api/v1/archive/flush`, { method: 'POST' });
    const answer = await fetch(`${dac.url}/api/v1/sql`, {
      method: 'POST',
      body: JSON.stringify({ query: 'SELECT count(*) FROM tide' }),
    });
    expect(((await answer.json()) as { rows?: unknown[][] }).rows).toEqual([[50]]);
  }, LOADED);
});

beforeEach(async () => {
  visit = await Visit.to(browser, `${dac.url}#watch=harbour/tide`, {
    viewport: { width: 1366, height: 768 },
  });
  await part('chart').first().waitFor();
  await part('open-add').click();
  await part('kind-sql').locator('..').click();
  await part('add-panel').click();
});

afterEach(async () => {
  // A refused query is a message of the browser, too, and one that waits for others.
  expect(visit.complaints.filter((text) => !/422|429/.test(text))).toEqual([]);
  await visit.close();
});

afterAll(async () => {
  await node.stop();
  await closeVisits();
  await dac.stop();
});

const part = (testId: string): Locator => visit.page.getByTestId(testId);
const cells = () => part('sql-table').locator('td').allTextContents();

async function run(query: string): Promise<void> {
  await part('sql-query').fill(query);
  await part('sql-query').press('Control+Enter');
}

it('shows the rows of a query, and says where it is wrong', async () => {
  await run('SELECT node, instance, samples, NULL FROM instances');
  await expect.poll(cells).toEqual(['harbour', 'tide', '50', 'NULL']);
  expect(await part('sql-footer').textContent()).toContain('1 row');
  await run('SELECT nonsense FROM instances');
  await expect.poll(() => part('sql-problem').textContent()).toContain('nonsense');
  // Integers keep all digits.
  await run('SELECT 9223372036854775807 AS n');
  await expect.poll(cells).toEqual(['9223372036854775807']);
  const saved = visit.page.waitForEvent('download');
  await part('sql-csv').click();
  expect(await readFile(await (await saved).path(), 'utf8')).toBe('n\r\n9223372036854775807\r\n');
});

it('draws numbers over time of the time shown, and runs again when another one is', async () => {
  // Tests before this one took their time.
  await part('span').selectOption({ index: 3 });
  await run('-- Levels\nSELECT time, level FROM tide WHERE time_ns BETWEEN $from AND $to');
  await expect.poll(async () => (await cells()).length).toBe(100);
  await expect.poll(() => visit.page.locator('.dv-active-tab').allTextContents()).toContain('Levels');
  await part('sql-view').selectOption('chart');
  await expect.poll(() => part('sql-chart').getAttribute('data-points')).toBe('50');
  await visit.screenshot('sql-chart');
  // Draw the half of the time on the chart: the query follows.
  const over = part('sql-chart').locator('.u-over');
  const box = await over.boundingBox();
  if (!box) throw new Error('no chart');
  await visit.page.mouse.move(box.x + box.width * 0.01, box.y + 20);
  await visit.page.mouse.down();
  await visit.page.mouse.move(box.x + box.width * 0.3, box.y + 40, { steps: 4 });
  await visit.page.mouse.up();
  await expect.poll(async () => Number(await part('sql-chart').getAttribute('data-points'))).toBeLessThan(30);
  await expect
    .poll(() => visit.page.evaluate(() => localStorage.getItem('oasis.layout')))
    .toMatch(/-- Levels.*isDrawn/s);
});

it('draws bars for names, runs on a period, and suggests names', async () => {
  await part('sql-query').pressSequentially('SELECT node, samples FROM insta');
  await expect.poll(() => part('sql-names').textContent()).toContain('instances');
  await part('sql-query').press('Control+ ');
  expect(await part('sql-query').inputValue()).toBe('SELECT node, samples FROM instances');
  await part('sql-run').click();
  await expect.poll(cells).toEqual(['harbour', '50']);
  await part('sql-view').selectOption('chart');
  await expect.poll(() => part('sql-bar').textContent()).toBe('harbour50');
  let runs = 0;
  visit.page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/sql')) runs++;
  });
  await visit.page.clock.install();
  await part('sql-every').selectOption('5');
  for (const expected of [1, 2]) {
    await visit.page.clock.fastForward(5000);
    await expect.poll(() => runs).toBeGreaterThanOrEqual(expected);
  }
  await visit.page.reload();
  // A query with a period runs by itself.
  await expect.poll(() => part('sql-bar').textContent()).toBe('harbour50');
});
