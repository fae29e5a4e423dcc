import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Browser, devices, type Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { closeVisits, sharedBrowser, Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { BINARY, Oasis } from './harness/oasis.ts';
import { Site, untilItCanGoOn } from './harness/site.ts';

const PASSWORD = 'correct horse battery';
const NODE = ['--name', 'plant-7', '--probe', 'processor@20'];
const DESKTOP = { viewport: { width: 1366, height: 768 } };
const PHONE = { ...devices['Pixel 5'], viewport: { width: 390, height: 844 } };

let browser: Browser;
let site: Site;

beforeEach(async () => {
  [site, browser] = await Promise.all([Site.start(), sharedBrowser()]);
  await site.node(...NODE);
  await site.untilBothHave('plant-7');
});

afterEach(async () => {
  await closeVisits();
  await site.stop();
});

function tabs(page: Page): Promise<string[]> {
  return page.locator('.dv-default-tab-content').allTextContents();
}

async function watched(dac: Oasis, options = {}): Promise<Visit> {
  const visit = await Visit.to(browser, `${dac.url}/#watch=plant-7/processor`, options);
  await visit.seesSamples('processor', 3);
  await untilItCanGoOn(visit.page);
  return visit;
}

it('goes on at another DAC by itself, with its layout, and knows what it has missed', async () => {
  const [hall1, hall2] = site.dacs;
  const visit = await watched(hall1, DESKTOP);
  const { page } = visit;
  const panels = await tabs(page);
  await hall1.kill();
  await expect.poll(() => page.url().startsWith(hall2.url)).toBe(true);
  await visit.seesSamples('processor', 3);
  await expect
    .poll(() => page.getByTestId('arrival').textContent())
    .toMatch(/The page went on from hall-1 to hall-2 at \d\d:\d\d:\d\d: hall-1 did not answer\./);
  expect(await tabs(page)).toEqual(panels);
  // The node has sent the other DAC what it did not know to be safe, and the page has continued where it was.
  await expect.poll(() => visit.part('processor', 'missing').textContent()).toBe('0');
  await visit.screenshot('went-on');
  // Neither positions nor the way are left in the address.
  await expect.poll(() => new URL(page.url()).hash).toBe('#watch=plant-7/processor');
  await page.getByTestId('close-arrival').click();
  expect(await page.getByTestId('arrival').count()).toBe(0);
  expect(visit.ownComplaints()).toEqual([]);
});

it('goes on if its DAC does not end, but is silent', async () => {
  const [hall1, hall2] = site.dacs;
  const visit = await watched(hall1, DESKTOP);
  hall1.suspend();
  await expect.poll(() => visit.page.url().startsWith(hall2.url)).toBe(true);
  await visit.seesSamples('processor', 3);
  expect(await visit.page.getByTestId('arrival').textContent()).toContain('from hall-1 to hall-2');
});

it('stays if the person wants it, and goes on when they say so', async () => {
  const [hall1, hall2] = site.dacs;
  const visit = await watched(hall1, PHONE);
  const { page } = visit;
  await page.keyboard.press('d');
  await page.getByTestId('goes-on').uncheck();
  await visit.screenshot('goes-on-phone');
  await page.keyboard.press('Escape');
  await hall1.kill();
  const line = page.getByTestId('going-on');
  await expect.poll(() => line.textContent()).toContain('The page stays here, as you chose.');
  // A link is offered after two seconds; until then the page would have gone on.
  const offer = page.getByTestId('other-dacs').getByTestId('dac-link');
  await expect.poll(() => offer.textContent()).toBe('Open hall-2');
  await visit.screenshot('stays-phone');
  expect(page.url().startsWith(hall1.url)).toBe(true);
  await page.getByTestId('go-on').click();
  await expect.poll(() => page.url().startsWith(hall2.url)).toBe(true);
  await visit.seesSamples('processor', 3);
  await page.getByTestId('arrival').waitFor();
  await visit.screenshot('went-on-phone');
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
  expect(visit.ownComplaints()).toEqual([]);
});

/** A DAC that relays another one, and whose settings name a page at which its own go on. */
function dacNaming(page: string, upstream: Oasis): Promise<Oasis> {
  const config = join(temporaryFolder(), 'oasis.toml');
  writeFileSync(config, `[doors]\nother_pages = ["${page}"]\n[relay]\nupstreams = ["${upstream.url}"]\n`);
  return site.run(Oasis.dac({}, '--config', config, '--dac-name', 'hall-3'));
}

it('goes on with its layout when the sign-in is over, if the other DAC wants one', async () => {
  const folder = temporaryFolder();
  const access = ['--access', join(folder, 'access')];
  const added = spawnSync(
    BINARY,
    ['user', 'add', 'ada', '--role', 'operator', '--password-file', '-', ...access],
    { input: PASSWORD, encoding: 'utf8' },
  );
  expect(added.status, added.stderr).toBe(0);
  const [hall1] = site.dacs;
  const guarded = await site.run(Oasis.relay({}, '--upstream', hall1.url, ...access, '--local', 'token'));
  const home = await dacNaming(guarded.url, hall1);
  const visit = await watched(home, DESKTOP);
  const { page } = visit;
  const panels = await tabs(page);
  await home.kill();
  await page.getByTestId('sign-in').waitFor();
  expect(page.url()).toContain(`${guarded.url}/#view=`);
  expect(await page.getByTestId('sign-in-arrival').textContent()).toContain('The page went on from hall-3');
  await visit.screenshot('went-on-sign-in');
  await page.getByTestId('sign-in-name').fill('ada');
  await page.getByTestId('sign-in-password').fill(PASSWORD);
  await page.getByTestId('sign-in-submit').click();
  await expect.poll(() => page.getByTestId('sign-out').textContent()).toContain('ada');
  await visit.seesSamples('processor', 3);
  expect(await page.getByTestId('arrival').textContent()).toContain('The page went on from hall-3');
  expect(await tabs(page)).toEqual(panels);
});

/** A server that is no DAC: it answers everything, to everybody, and counts what it was asked. */
class OtherServer {
  asked = 0;
  private readonly server = createServer((_, answer) => {
    this.asked++;
    answer.setHeader('access-control-allow-origin', '*');
    answer.end('<h1>oasis</h1>');
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.close();
  }
}

/** Waits until the page has looked for another DAC several times. */
async function looksAgain(page: Page): Promise<void> {
  let looks = 0;
  page.on('requestfailed', (request) => {
    if (new URL(request.url()).pathname === '/alive') looks++;
  });
  await expect.poll(() => looks).toBeGreaterThan(2);
}

it('goes to no address that its DAC has not named', async () => {
  const [hall1] = site.dacs;
  const evil = new OtherServer();
  const address = await evil.start();
  const visit = await Visit.to(browser, 'about:blank', DESKTOP);
  const { page } = visit;
  // The policy of the scout does not have them, whatever the list says.
  const entries = ['javascript:alert(1)', 'http://user:secret@127.0.0.1:1/', `${address}/`, 'http://a b'];
  const forged = entries.map((text) => ({ name: '<img src=x onerror=alert(1)>', address: text }));
  await page.route(`${hall1.url}/api/v1/other-pages`, (route) => route.fulfill({ json: { pages: forged } }));
  await page.goto(`${hall1.url}/#watch=plant-7/processor`);
  await visit.seesSamples('processor', 3);
  await untilItCanGoOn(page);
  const looked = looksAgain(page);
  await hall1.kill();
  await looked;
  const offers = page.getByTestId('other-dacs').getByTestId('dac-link');
  await expect.poll(() => offers.allTextContents()).toEqual(['Open <img src=x onerror=alert(1)>']);
  expect(await page.locator('img').count()).toBe(0);
  expect(page.url().startsWith(hall1.url)).toBe(true);
  expect(evil.asked).toBe(0);
  await visit.screenshot('going-on-hostile');
  evil.stop();
});

it('goes to no server that is no DAC', async () => {
  const evil = new OtherServer();
  const home = await dacNaming(await evil.start(), site.dacs[0]);
  const visit = await watched(home, DESKTOP);
  const looked = looksAgain(visit.page);
  await home.kill();
  await looked;
  expect(evil.asked).toBeGreaterThan(0);
  expect(visit.page.url().startsWith(home.url)).toBe(true);
  evil.stop();
});
