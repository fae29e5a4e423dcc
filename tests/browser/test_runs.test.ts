import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { closeVisits, sharedBrowser, Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { Oasis } from './harness/oasis.ts';
import { shown } from './harness/shown.ts';

const HOSTILE = '<img src=x onerror=alert(1)> \u202ecold';

let folder: string;
let browser: Browser;
let dac: Oasis;
let node: Oasis;
let visit: Visit;

beforeAll(async () => {
  folder = temporaryFolder();
  [dac, browser] = await Promise.all([Oasis.dac({}, '--archive', folder), sharedBrowser()]);
  node = await Oasis.node(dac.channel, '--name', 'plant-7', '--probe', 'memory@20');
  visit = await Visit.to(browser, `${dac.url}#watch=plant-7/memory`);
  await visit.seesSamples('memory', 5);
});

afterAll(async () => {
  await visit.close();
  await closeVisits();
  await node.stop();
  await dac.stop();
});

const part = (testId: string) => visit.page.getByTestId(testId);
/** Starts a test run as somebody else does. */
async function elsewhere(name: string): Promise<void> {
  await post('test-runs', { name });
}

async function post(path: string, body: object): Promise<void> {
  const answer = await fetch(`${dac.url}/api/v1/${path}`, { method: 'POST', body: JSON.stringify(body) });
  expect(answer.status).toBe(201);
}

const row = (name: string) => visit.page.locator(`[data-testid=test-run][data-name=${JSON.stringify(name)}]`);

async function start(name: string, tags: string): Promise<void> {
  await part('test-run-name').fill(name);
  await part('test-run-tags').fill(tags);
  await part('test-run-start').click();
  await expect.poll(() => row(name).getAttribute('data-going')).toBe('true');
}

async function stop(name: string): Promise<void> {
  await row(name).getByTestId('test-run-stop').click();
  await expect.poll(() => row(name).getAttribute('data-going')).toBe('false');
}

it('starts and stops test runs, keeps them, and writes notes on them', async () => {
  await visit.page.keyboard.press('u');
  await start('soak', 'night, pump 3');
  expect(await row('soak').locator('.test-run-tag').allTextContents()).toEqual(['night', 'pump 3']);
  await visit.seesSamples('memory', 5);
  await stop('soak');
  await row('soak').getByTestId('test-run-pin').check();
  const notes = row('soak').getByTestId('test-run-notes-of');
  const written = 'valve half open\nbearing hot';
  await notes.fill(written);
  const isKept = visit.page.waitForResponse((answer) => answer.request().method() === 'PATCH');
  await notes.press('Control+Enter');
  expect((await isKept).ok()).toBe(true);
  await visit.page.reload();
  await expect.poll(() => notes.inputValue()).toBe(written);
  expect(await row('soak').getByTestId('test-run-pin').isChecked()).toBe(true);
  await start(HOSTILE, '');
  await visit.seesSamples('memory', 5);
  await stop(HOSTILE);
  expect(await visit.page.locator('img').count()).toBe(0);
  await visit.screenshot('test-runs');
});

it('shows why a test run cannot start, and continues', async () => {
  await part('test-run-name').fill('soak');
  await part('test-run-start').click();
  await expect.poll(() => part('test-run-problem').textContent()).toContain('soak');
  expect(await part('test-run-name').inputValue()).toBe('soak');
  await elsewhere('by others');
  await row('by others').waitFor();
  expect(await part('test-run-problem').textContent()).toContain('soak');
  await row('by others').getByTestId('test-run-delete').click();
  await expect.poll(() => row('by others').count()).toBe(0);
});

it('shows the time of a test run, and compares two', async () => {
  await row('soak').getByTestId('test-run-show').click();
  await expect.poll(() => part('live').getAttribute('data-live')).toBe('false');
  await part('live').click();
  for (const name of ['soak', HOSTILE]) await row(name).getByTestId('test-run-pick').check();
  await part('test-run-compare').click();
  const compared = part('compared').first();
  await expect.poll(() => compared.textContent()).toMatch(/plant-7\/memory.*Samples.*Rate.*Constant:.*KiB/);
  expect(await compared.locator('[data-of=samples]').textContent()).toMatch(/\d.*%$/);
  // The comparison is below a list, and the page scrolls to it.
  expect(await part('comparison').evaluate((table) => table === document.activeElement)).toBe(true);
});

it('compares the earlier test run with the later one, the other way round, and per minute', async () => {
  const names = () => part('comparison').locator('thead th bdi').allTextContents();
  // The later one stands above in the list.
  expect((await names())[0]).toBe('soak');
  const samples = part('compared').first().locator('[data-of=samples]');
  const numbers = async () => (await samples.locator('td').allTextContents()).slice(0, 2);
  const before = await numbers();
  await part('comparison-swap').click();
  await expect.poll(async () => (await names())[1]).toBe('soak');
  expect(await numbers()).toEqual([...before].reverse());
  await part('comparison-per-minute').check();
  await expect.poll(() => samples.textContent()).toContain('/min');
  // Both are shorter than a minute.
  const counts = (texts: readonly string[]) => texts.map((text) => Number(text.replace(/[^\d.]/g, '')));
  const [first, second] = counts(before);
  const [secondPerMinute, firstPerMinute] = counts(await numbers());
  expect(firstPerMinute).toBeGreaterThan(first);
  expect(secondPerMinute).toBeGreaterThan(second);
});

it('draws a metric of both from their beginnings, with the difference', async () => {
  await part('compared-curves').first().click();
  await part('overlay').waitFor();
  await expect
    .poll(() => part('overlay-readout').textContent())
    .toMatch(/^At \d.* m?s: .*[KMG]iB.*, difference/);
  expect(await part('overlay').textContent()).toContain(shown(HOSTILE));
  await part('overlay-scaled').check();
  await part('overlay-curves').hover({ position: { x: 200, y: 30 } });
  await expect.poll(() => part('overlay-readout').textContent()).toMatch(/^At \d+\.\d %/);
  const isDrawn = (testId: string) =>
    part(testId)
      .locator('canvas')
      .evaluate((canvas) => {
        const { width, height } = canvas as HTMLCanvasElement;
        const data = (canvas as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, width, height).data;
        return data?.some((byte) => byte > 0) ?? false;
      });
  for (const testId of ['overlay-curves', 'overlay-difference'])
    await expect.poll(() => isDrawn(testId)).toBe(true);
  await visit.screenshot('overlay');
  await visit.page.keyboard.press('x');
  await expect.poll(() => part('overlay').count()).toBe(0);
  await row(HOSTILE).getByTestId('test-run-delete').click();
  await expect.poll(() => part('test-run').count()).toBe(1);
});

it('stores notes in the DAC for all users', async () => {
  await visit.page.keyboard.press('n');
  await expect.poll(() => part('note').textContent()).toContain('all users see them');
  await part('note-text').fill(HOSTILE);
  await part('note-add').click();
  await expect.poll(() => part('note').count()).toBe(0);
  const other = await Visit.to(browser, `${dac.url}#watch=plant-7/memory`);
  await other.seesSamples('memory', 2);
  await other.page.keyboard.press('n');
  const line = other.page.getByTestId('note-line');
  await expect.poll(() => line.textContent()).toContain(shown(HOSTILE));
  await line.locator('button').click();
  await expect.poll(() => line.count()).toBe(0);
  expect(other.complaints).toEqual([]);
  await other.close();
  // The browser reports the 409 for the taken name.
  expect(visit.complaints.filter((text) => !text.includes('409'))).toEqual([]);
});

it('accepts notes of several lines for a new test run', async () => {
  await part('test-run-name').fill('day 1');
  await part('test-run-notes').fill('valve half open\nfan off');
  await part('test-run-notes').press('Control+Enter');
  await expect
    .poll(() => row('day 1').getByTestId('test-run-notes-of').inputValue())
    .toBe('valve half open\nfan off');
  await part('test-run-notes').fill('');
  await row('day 1').getByTestId('test-run-delete').click();
  await expect.poll(() => row('day 1').count()).toBe(0);
});

it('keeps typed notes while the list is reloaded', async () => {
  await start('day 2', '');
  const notes = row('day 2').getByTestId('test-run-notes-of');
  await notes.pressSequentially('valve ');
  // The list is a new one from then on.
  await elsewhere('meanwhile');
  await row('meanwhile').waitFor();
  await notes.pressSequentially('open');
  const isKept = visit.page.waitForResponse((answer) => answer.request().method() === 'PATCH');
  await notes.press('Control+Enter');
  expect((await isKept).request().postDataJSON()).toEqual({ notes: 'valve open' });
  for (const name of ['meanwhile', 'day 2']) {
    await row(name).getByTestId('test-run-delete').click();
    await expect.poll(() => row(name).count()).toBe(0);
  }
});

it('shows how many test runs are on other pages, and opens these', async () => {
  await row('soak').getByTestId('test-run-pick').setChecked(true);
  for (let number = 1; number <= 100; number++) await elsewhere(`run ${number}`);
  await expect.poll(() => part('test-run-pages').textContent()).toMatch(/newest 100;.*older/);
  expect(await part('test-run').count()).toBe(100);
  expect(await part('test-runs-picked').textContent()).toContain('soak');
  await row('run 100').getByTestId('test-run-pick').check();
  await part('test-runs-older').click();
  await row('soak').waitFor();
  await expect.poll(() => part('test-run-pages').textContent()).toContain('Page 2');
  await visit.screenshot('test-runs-older');
  await part('test-run-compare').click();
  await expect.poll(() => part('comparison').textContent()).toMatch(/soak.*run 100/);
  await part('test-runs-newer').click();
  await row('run 100').waitFor();
});

it('shows up to which time notes are drawn if there are too many', async () => {
  await part('span').selectOption('300000');
  const time = Date.now() - 100_000;
  for (let number = 0; number < 1001; number += 7) {
    const some = Array.from({ length: 7 }, (_, index) => `${(time + 100 * (number + index)) * 1e6}`);
    await Promise.all(some.map((time) => post('annotations', { time, text: 'bump' })));
  }
  await expect.poll(() => part('notes-note').first().textContent()).toMatch(/^Notes only up to /);
  await visit.page.keyboard.press('n');
  const words = part('note').getByTestId('notes-note');
  await expect.poll(() => words.textContent()).toContain('Only the first 1\u202f000 notes');
  await visit.screenshot('notes-more');
  await visit.page.keyboard.press('Escape');
});

it('reconnects after a restart of the DAC', async () => {
  await dac.stop();
  await visit.page.getByTestId('banner').waitFor();
  dac = await Oasis.dac({ listen: dac.listen, channel: dac.channel }, '--archive', folder);
  await elsewhere('afterwards');
  await row('afterwards').waitFor();
  await row('run 100').waitFor();
  expect(await part('test-run-problem').textContent()).toBe('');
});
