import type { Locator } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const rig = new Rig(() =>
  Oasis.up(
    '--probe',
    'processor@20',
    '--probe',
    'memory@20',
    '--probe',
    'network@20',
    '--probe',
    'scheduling@20',
  ),
);
let visit: Visit;

beforeEach(async () => {
  visit = await rig.visit();
  await visit.seesSamples('processor', 5);
});

afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

const charts = () => visit.page.getByTestId('series');
const text = (testId: string) => visit.page.getByTestId(testId).first().textContent();

/** Returns a fingerprint of the drawing. */
function pixels(chart: Locator): Promise<string> {
  return chart
    .locator('canvas')
    .first()
    .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
}

it('opens a moving chart with values for each watched instance', async () => {
  await expect.poll(() => charts().count()).toBe(2);
  const chart = charts().first();
  const before = await pixels(chart);
  await expect.poll(() => pixels(chart)).not.toBe(before);
  await expect
    .poll(() => chart.locator('[data-metric=user_time] [data-testid=legend-value]').textContent())
    .toMatch(/%$/);
  expect(await charts().nth(1).getByTestId('footer-missing').textContent()).toBe('0 missing');
});

it('pauses all panels while samples continue, and returns to now', async () => {
  await visit.page.getByTestId('live').click();
  expect(await visit.page.getByTestId('live').getAttribute('data-live')).toBe('false');
  const chart = charts().first();
  const ends = await text('ends');
  // Samples taken before the click may still arrive; later ones change nothing.
  const stands = async () => {
    const [before, received] = [await pixels(chart), await rig.oasis.received()];
    await expect.poll(() => rig.oasis.received()).toBeGreaterThan(received + 20);
    return (await pixels(chart)) === before;
  };
  await expect.poll(stands).toBe(true);
  expect(await text('ends')).toBe(ends);
  await visit.page.getByTestId('earlier').click();
  expect(await text('ends')).not.toBe(ends);
  await visit.page.getByTestId('live').click();
  expect(await visit.page.getByTestId('live').getAttribute('data-live')).toBe('true');
});

it('zooms all charts to a span drawn with the pointer', async () => {
  const box = await charts().first().locator('.u-over').boundingBox();
  if (!box) throw new Error('no chart');
  await visit.page.mouse.move(box.x + box.width * 0.5, box.y + 40);
  await visit.page.mouse.down();
  await visit.page.mouse.move(box.x + box.width * 0.75, box.y + 60, { steps: 4 });
  await visit.page.mouse.up();
  await expect.poll(() => visit.page.getByTestId('live').getAttribute('data-live')).toBe('false');
  await expect.poll(() => visit.page.getByTestId('span').inputValue().then(Number)).toBeLessThan(16_000);
  expect(Number(await visit.page.getByTestId('span').inputValue())).toBeGreaterThan(14_000);
});

it('shows the time at the crosshairs, and a line for the value on the chart under the pointer only', async () => {
  await charts().first().locator('.u-over').hover();
  const times = () => charts().locator('.cursor-time').allTextContents();
  const time = expect.stringMatching(/^\d\d:\d\d:\d\d\.\d\d\d$/);
  await expect.poll(times).toEqual([time, time]);
  const isShown = (index: number, line: string) => charts().nth(index).locator(line).isVisible();
  await expect.poll(() => isShown(0, '.u-cursor-y')).toBe(true);
  await expect.poll(() => isShown(1, '.u-cursor-x')).toBe(true);
  expect(await isShown(1, '.u-cursor-y')).toBe(false);
});

it('draws a span without samples as a gap, with its cause', async () => {
  await visit.page.getByTestId('span').selectOption('15000');
  await visit.part('processor', 'disable').click();
  await expect.poll(() => visit.part('processor', 'card-state').getAttribute('data-state')).toBe('disabled');
  await expect.poll(() => text('footer-age')).toMatch(/Age [2-9]/);
  await visit.part('processor', 'enable').click();
  await visit.seesSamples('processor', 3);
  await visit.page.getByTestId('live').click();
  const box = await charts().first().locator('.u-over').boundingBox();
  if (!box) throw new Error('no chart');
  const note = charts().first().getByTestId('gap-note');
  for (let share = 0.98; share > 0 && (await note.count()) === 0; share -= 0.03) {
    await visit.page.mouse.move(box.x + box.width * share, box.y + 50);
    await visit.page.evaluate(() => new Promise(requestAnimationFrame));
  }
  expect(await note.getAttribute('data-cause')).toBe('disabled');
});

it('restores its state after a reload', async () => {
  await expect.poll(() => charts().count()).toBe(2);
  await visit.page.locator('[data-testid=instance][data-instance^=network]').first().click();
  // A chart for each unit, all of them to be seen.
  await expect.poll(() => charts().count()).toBeGreaterThan(3);
  const tabs = () => visit.page.locator('.dv-default-tab-content').allTextContents();
  await expect.poll(async () => (await tabs()).length).toBeGreaterThan(4);
  const before = await tabs();
  const shown = await charts().count();
  await expect
    .poll(() => visit.page.evaluate(() => localStorage.getItem('oasis.layout')?.includes('network')))
    .toBe(true);
  await visit.page.reload();
  await expect.poll(tabs).toEqual(before);
  await expect.poll(() => charts().count()).toBe(shown);
});

it('draws a line for each element of a vector, by its name', async () => {
  await visit.page.locator('[data-testid=instance][data-instance=scheduling]').click();
  await visit.page
    .locator('.dv-default-tab-content')
    .getByText('scheduling \u00b7 threads: Ran', { exact: true })
    .click();
  const lines = visit.page.locator('[data-testid=legend-line][data-metric="threads[].run_time"]');
  await expect.poll(() => lines.count()).toBeGreaterThan(1);
  await expect
    .poll(() => lines.first().getByTestId('legend-value').textContent())
    .toMatch(/[nm\u00b5]?s\/s$/);
  expect(await lines.first().textContent()).toMatch(/^\d+ /);
});
