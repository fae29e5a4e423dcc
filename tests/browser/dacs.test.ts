import { type Browser, devices } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { closeVisits, sharedBrowser, Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { shown } from './harness/shown.ts';

const NODE = ['--name', 'plant-7', '--probe', 'processor@20'];

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

it('lists the DACs of its TEM, and opens another one with the same layout when its own ends', async () => {
  const hall1 = await run(Oasis.dac({}, '--dac-name', 'hall-1'));
  const hall2 = await run(Oasis.dac({}, '--tem', hall1.url, '--dac-name', 'hall-2'));
  await run(Oasis.node(hall1.channel, ...NODE));
  await run(Oasis.node(hall2.channel, ...NODE));
  const visit = await Visit.to(browser, hall1.url, { viewport: { width: 1366, height: 768 } });
  const { page } = visit;
  await visit.seesSamples('processor', 2);

  await page.getByTestId('open-dacs').click();
  const row = (name: string) => page.locator(`[data-testid=dac-row][data-dac=${name}]`);
  await expect.poll(() => row('hall-2').getAttribute('data-state')).toBe('live');
  // A heartbeat reports how many nodes and samples there are.
  await expect.poll(() => row('hall-2').textContent()).toMatch(/hall-2.*live.*ok\D*1/);
  expect(await row('hall-1').textContent()).toContain('this page');
  expect(await row('hall-1').getByTestId('dac-link').count()).toBe(0);
  await visit.screenshot('dacs');
  await page.keyboard.press('Escape');

  const panels = await page.locator('.dv-default-tab-content').allTextContents();
  await hall1.kill();
  const offer = page.getByTestId('other-dacs').getByTestId('dac-link');
  await expect.poll(() => offer.textContent()).toBe('Open hall-2');
  expect(await page.getByTestId('other-dacs').textContent()).toContain('hall-1 does not answer.');
  await visit.screenshot('dacs-lost');
  await offer.click();
  await visit.seesSamples('processor', 2);
  expect(page.url().startsWith(hall2.url)).toBe(true);
  expect(page.url()).not.toContain('tem=');
  expect(await page.locator('.dv-default-tab-content').allTextContents()).toEqual(panels);

  // Its own TEM knows no other DAC: the page leads back to the TEM that it came from.
  await page.getByTestId('open-dacs').click();
  expect(await page.getByTestId('tem-location').inputValue()).toBe(`${hall1.url}/`);
  expect(await page.getByTestId('dacs').textContent()).toContain('Named by the link that you followed');
  await page.keyboard.press('Escape');
  await hall2.kill();
  await expect.poll(() => page.getByTestId('tem-link').getAttribute('href')).toMatch(`${hall1.url}/#view=`);
  expect(visit.ownComplaints()).toEqual([]);
});

it('chooses a DAC on the page of a TEM, and remembers it', async () => {
  const tem = await run(Oasis.tem());
  await run(Oasis.dac({}, '--tem', tem.url, '--dac-name', 'hall-1'));
  const hall2 = await run(Oasis.dac({}, '--tem', tem.url, '--dac-name', 'hall-2'));
  await run(Oasis.node(hall2.channel, ...NODE));
  const visit = await Visit.to(browser, hall2.url, {
    ...devices['Pixel 5'],
    viewport: { width: 390, height: 844 },
  });
  const { page } = visit;
  await visit.seesSamples('processor', 2);
  // This DAC's own TEM knows it alone.
  expect(await page.getByTestId('open-dacs').count()).toBe(0);
  await page.keyboard.press('d');
  await page.getByTestId('tem-location').fill('javascript:alert(1)');
  await page.getByTestId('tem-open').click();
  await expect.poll(() => page.getByTestId('tem-problem').textContent()).toContain('is not an address');
  await page.getByTestId('tem-location').fill(tem.listen);
  await page.getByTestId('tem-open').click();

  await expect.poll(() => page.url()).toContain(tem.url);
  // The TEM has no samples: it shows its DACs where others show panels.
  const link = page.getByTestId('dac-choice').locator('[data-testid=dac-link][data-dac=hall-2]');
  await link.waitFor();
  await visit.screenshot('dacs-phone');
  await link.click();
  await visit.seesSamples('processor', 2);
  await page.goto(tem.url);
  const row = page.locator('[data-testid=dac-row][data-dac=hall-2]');
  await expect.poll(() => row.textContent()).toContain('opened last');
  expect(visit.ownComplaints()).toEqual([]);
});

it('leads from a DAC that ends to a TEM that lives, and shows relays as such', async () => {
  const tem1 = await run(Oasis.tem());
  const tem2 = await run(Oasis.tem());
  const hall = await run(Oasis.dac({}, '--tem', tem1.url, '--tem', tem2.url, '--dac-name', 'hall-1'));
  const phone = { ...devices['Pixel 5'], viewport: { width: 390, height: 844 } };
  const visit = await Visit.to(browser, hall.url, phone);
  const { page } = visit;
  const state = (tem: Oasis) =>
    page.getByTestId('tem-row').filter({ hasText: tem.url }).getAttribute('data-state');
  const kind = (name: string) =>
    page.locator(`[data-testid=dac-row][data-dac=${name}]`).getByTestId('dac-kind').textContent();
  await page.keyboard.press('d');
  await expect.poll(() => state(tem1)).toBe('live');
  await expect.poll(() => state(tem2)).toBe('live');
  await visit.screenshot('tems-phone');
  await tem1.kill();
  await expect.poll(() => state(tem1)).toBe('late');
  await expect.poll(() => state(tem2)).toBe('live');
  await page.keyboard.press('Escape');

  await hall.kill();
  const offer = page.getByTestId('other-dacs').getByTestId('tem-link');
  await expect.poll(() => offer.getAttribute('href')).toContain(`${tem2.url}/`);
  // Not before: the page would lead to the relay, not to the TEM.
  await run(Oasis.relay({}, '--tem', tem2.url, '--dac-name', 'relay-1'));
  await offer.click();
  await expect.poll(() => page.url()).toContain(tem2.url);
  await expect.poll(() => kind('relay-1')).toBe('relay');
  await expect.poll(() => kind('hall-1')).toBe('DAC');
  expect(visit.ownComplaints()).toEqual([]);
});

it('shows hostile names and addresses of DACs as text, and finds one of many', async () => {
  const dac = await run(Oasis.dac());
  const names = ['<img src=x onerror=alert(1)>', `\u202eLTR \u2067 ${'n'.repeat(900)}`];
  const entry = (name: string, doors: string) => ({
    name,
    doors,
    state: 'late',
    silent_ms: 9000,
    health: '<b>ill</b>',
    load: { nodes: 1, instances: 1, readers: 1, samples_per_second: 1e12 },
    nodes: [],
    is_tem: false,
  });
  const many = Array.from({ length: 300 }, (_, index) => entry(`hall-${index}`, `http://hall-${index}/`));
  const answer = {
    position: 'a:1',
    complete: true,
    dacs: [...many, entry(names[0], 'javascript:alert(1)'), entry(names[1], 'http://evil/<img>')],
    removed: [],
    tems: [
      { doors: `http://${'n'.repeat(60)}.${'n'.repeat(60)}.${'n'.repeat(60)}:7000`, state: 'live' },
      { doors: 'javascript:alert(1)', state: 'live' },
    ],
  };
  for (const width of [1366, 390]) {
    const visit = await Visit.to(browser, 'about:blank', { viewport: { width, height: 768 } });
    const { page } = visit;
    await page.route('**/api/v1/tem*', (route) => route.fulfill({ json: answer }));
    await page.goto(dac.url);
    await page.getByTestId('dac-choice').waitFor();
    await expect.poll(() => page.getByTestId('dac-row').count()).toBe(100);
    expect(await page.getByTestId('dac-choice').textContent()).toContain('202 more');
    await page.getByTestId('dac-filter').fill('<IMG');
    await expect.poll(() => page.getByTestId('dac-row').count()).toBe(1);
    expect(await page.getByTestId('dac-name').textContent()).toBe(names[0]);
    expect(await page.getByTestId('dac-link').count()).toBe(0);
    await page.getByTestId('dac-filter').fill('ltr');
    await expect.poll(() => page.getByTestId('dac-link').textContent()).toBe(shown(names[1] ?? ''));
    expect(await page.locator('img, .dacs b').count()).toBe(0);
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await page.getByTestId('dac-filter').blur();
    await page.keyboard.press('d');
    expect(await page.getByTestId('tem-row').count()).toBe(1);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await visit.screenshot(`tems-hostile-${width}`);
    expect(visit.complaints).toEqual([]);
    await visit.close();
  }
});
