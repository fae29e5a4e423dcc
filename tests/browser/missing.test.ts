import { randomUUID } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { closeVisits, sharedBrowser, Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';

/** The number of missing samples is the same wherever it stands, and each place says since when it counts. */

const PUMP = {
  name: 'Pump',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [{ name: 'speed', type: 'real64', unit: 'rad/s' }],
};
const WATCHED = '#watch=plant-7/pump';

let folder: string;
let dac: Oasis;
let browser: Browser;
let node: PlainNode;
let visits: Visit[] = [];

beforeAll(async () => {
  folder = temporaryFolder();
  [dac, browser] = await Promise.all([Oasis.dac({}, '--archive', folder), sharedBrowser()]);
  node = await PlainNode.start(dac.channel, 'plant-7', [{ name: 'pump', schema: PUMP }]);
  send();
});

afterEach(async () => {
  for (const visit of visits) {
    expect(visit.complaints).toEqual([]);
    await visit.close();
  }
  visits = [];
});

afterAll(async () => {
  await closeVisits();
  await node.stop();
  await dac.stop();
});

function send(dropped = {}): void {
  node.count('pump', dropped);
  const times = [Date.now() - 1, Date.now()];
  const lost = Object.values(dropped).reduce<number>((sum, count) => sum + Number(count), 0);
  node.flush('pump', times, [Float64Array.of(3, 4)], lost);
}

async function open(fragment = WATCHED, width = 1366): Promise<Visit> {
  const visit = await Visit.to(browser, `${dac.url}/${fragment}`, { viewport: { width, height: 768 } });
  visits.push(visit);
  await expect.poll(() => visit.part('pump', 'received').textContent()).toMatch(/^\d+ received/);
  return visit;
}

/** The number and its words on the card. */
const missing = (visit: Visit) => visit.part('pump', 'missing').textContent();

/** What is missing, once the page has learned it: a dash is no number. */
async function knownMissing(visit: Visit): Promise<number> {
  await expect.poll(() => missing(visit)).toMatch(/^\d/);
  return Number(await missing(visit));
}
const gaps = (visit: Visit) =>
  visit
    .part('pump', 'gap')
    .evaluateAll((found) =>
      found.map((gap) => [gap.getAttribute('data-cause'), Number(gap.getAttribute('data-count'))]),
    );

async function ledgerOfApi(): Promise<{ missing: number; causes: Record<string, number> }> {
  const answer = (await (await fetch(`${dac.url}/api/v1/ledger?node=plant-7`)).json()) as {
    instances: { ledger: { missing: number; causes: Record<string, number> } }[];
  };
  return answer.instances[0].ledger;
}

async function sql(query: string): Promise<unknown> {
  await fetch(`${dac.url}/api/v1/archive/flush`, { method: 'POST' });
  const answer = await fetch(`${dac.url}/api/v1/sql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return ((await answer.json()) as { rows: unknown[][] }).rows?.[0]?.[0];
}

it('is the same on two pages, in the ledger, the fleet, the API and SQL, with each cause', async () => {
  const early = await open();
  await expect.poll(() => missing(early)).toBe('0');
  send({ ring: 3, spool: 4 });
  await expect.poll(() => missing(early)).toBe('7');
  await expect
    .poll(() => gaps(early))
    .toEqual([
      ['ring_full', 3],
      ['spool_full', 4],
    ]);

  // A page that is opened later has the same number.
  const late = await open();
  await expect.poll(() => missing(late)).toBe('7');
  expect(await late.part('pump', 'missing-since').textContent()).toMatch(/^since \d\d:\d\d$/);
  expect(await late.part('pump', 'missing').locator('..').getAttribute('title')).toMatch(
    /^7\nSamples that were taken and did not reach the DAC since it started at \d\d:\d\d:\d\d/,
  );

  await late.page.keyboard.press('b');
  const row = late.page.locator('[data-testid=ledger-row][data-instance=pump]');
  await expect.poll(() => row.getByTestId('ledger-missing').textContent()).toBe('7');
  await expect
    .poll(() => row.getByTestId('ledger-causes').textContent())
    .toMatch(/^4: the node's spool was full.*; 3: the probe's ring was full$/);
  expect(await row.getByTestId('ledger-not-here').textContent()).toBe('0');
  expect(await late.page.getByTestId('ledger-scopes').textContent()).toMatch(
    /since the DAC started at \d\d:\d\d:\d\d\..*since this page was opened at \d\d:\d\d:\d\d\.$/,
  );
  await late.screenshot('missing-ledger');

  await late.page.keyboard.press('a');
  await late.page.getByTestId('add').waitFor();
  await late.page.getByTestId('kind-fleet').locator('..').click();
  await late.page.getByTestId('add-panel').press('Enter');
  const inFleet = late.page.getByTestId('fleet-row').first().locator('.fleet-missing');
  await expect.poll(() => inFleet.textContent()).toBe('7');
  expect(await inFleet.getAttribute('title')).toContain('since the DAC started');

  expect(await ledgerOfApi()).toMatchObject({ missing: 7, causes: { ring_full: 3, spool_full: 4 } });
  await expect.poll(() => sql('SELECT sum(count) FROM gaps')).toBe(7);
});

it('does not count samples that a flight recorder kept back, and tells them from drops', async () => {
  const visit = await open(`${WATCHED}`, 390);
  const before = await knownMissing(visit);
  send({ ring: 1, kept_back: 50 });
  await expect.poll(async () => Number(await missing(visit))).toBe(before + 1);
  expect(await visit.part('pump', 'kept-back').textContent()).toBe('50 kept back');
  await expect
    .poll(() => gaps(visit).then((all) => all.slice(0, 2)))
    .toEqual([
      ['ring_full', 1],
      ['kept_back', 50],
    ]);
  const { missing: all, causes } = await ledgerOfApi();
  expect(all - causes.kept_back).toBe(before + 1);
  expect(await visit.part('pump', 'gaps').textContent()).toContain('50 samples kept back');
  await visit.screenshot('missing-phone');
});

it('shows all causes of a gap on a chart, and the same numbers through a text door', async () => {
  const visit = await open();
  const before = await knownMissing(visit);
  await visit.page.getByTestId('open-ledger').click();
  await visit.page.getByTestId('door-choice').selectOption({ label: 'Server-sent events' });
  await expect.poll(() => visit.page.getByTestId('door').textContent()).toBe('Server-sent events');
  await expect.poll(() => missing(visit)).toBe(String(before));
  // Samples of the new door come after it has opened.
  await expect.poll(() => visit.part('pump', 'card-state').getAttribute('data-state')).not.toBe('waiting');
  const sequence = () => visit.part('pump', 'sequence').textContent();
  const last = await sequence();
  send();
  await expect.poll(sequence).not.toBe(last);
  send({ ring: 2, spool: 1 });
  await expect
    .poll(() => gaps(visit).then((all) => all.slice(0, 2)))
    .toEqual([
      ['ring_full', 2],
      ['spool_full', 1],
    ]);
  await expect.poll(async () => Number(await missing(visit))).toBe(before + 3);
  await visit.screenshot('missing');
});
