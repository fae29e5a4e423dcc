import { afterEach, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const rig = new Rig(() => Oasis.up('--name', 'plant-7', '--probe', 'memory@20'));
let visit: Visit;

afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

const chart = () => visit.page.locator('.chart:visible').first();
const isFull = () => visit.page.evaluate(() => document.fullscreenElement !== null);
const width = async () => (await chart().boundingBox())?.width ?? 0;

it('gives a panel the whole screen by key and by button, and back', async () => {
  visit = await rig.visit();
  const { page } = visit;
  await chart().waitFor();
  const before = await width();
  expect(before).toBeLessThan(1200);
  await page.keyboard.press('f');
  await expect.poll(isFull).toBe(true);
  await page.keyboard.press('f');
  await expect.poll(isFull).toBe(false);
  await page.locator('.dv-groupview', { has: chart() }).getByTestId('panel-full-screen').click();
  await expect.poll(isFull).toBe(true);
  await expect.poll(width).toBeGreaterThan(1200);
  // A dialog is above the panel.
  await page.keyboard.press('?');
  await page.getByTestId('help').waitFor();
  await page.keyboard.press('Escape');
  await page.getByTestId('help').waitFor({ state: 'detached' });
  await page.evaluate(() => document.fullscreenElement && document.exitFullscreen());
  await expect.poll(isFull).toBe(false);
  await expect.poll(async () => Math.abs((await width()) - before)).toBeLessThan(2);
});

it('keeps letters that are typed before the palette is there', async () => {
  visit = await rig.visit();
  const { page } = visit;
  await chart().waitFor();
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/palette_dialog-*.js', async (route) => {
    await released;
    await route.continue();
  });
  await page.keyboard.press('Control+k');
  await page.keyboard.type('memoryx');
  await page.keyboard.press('Backspace');
  release();
  const field = page.getByTestId('palette-field');
  await field.waitFor();
  expect(await field.inputValue()).toBe('memory');
  await page.keyboard.type('.');
  expect(await field.inputValue()).toBe('memory.');
});
