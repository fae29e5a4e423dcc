import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const rig = new Rig(() => Oasis.up('--name', 'plant-7', '--probe', 'processor@20', '--probe', 'memory@20'));
let visit: Visit;

beforeEach(async () => {
  visit = await rig.visit('#watch=plant-7/processor,plant-7/memory');
  await expect.poll(() => charts().count()).toBe(2);
  await expect.poll(() => charts().first().getByTestId('legend-line').count()).toBeGreaterThan(3);
});

afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

const charts = () => visit.page.getByTestId('series');
const tab = (title: string) =>
  visit.page.locator('.dv-tab').filter({ has: visit.page.getByText(title, { exact: true }) });
const groupOf = (title: string) =>
  tab(title).evaluate((found) => {
    const { left, top, width, height } = (
      found.closest('.dv-groupview') as HTMLElement
    ).getBoundingClientRect();
    return { left, top, width, height };
  });

it('docks a panel at the target of its tab', async () => {
  const chart = await groupOf('memory \u00b7 KiB');
  const table = await groupOf('processor');
  expect(chart.left).toBeGreaterThan(table.left);
  // A drop on the middle of another group adds a tab to it.
  await tab('memory \u00b7 KiB').dragTo(charts().first());
  await expect.poll(async () => (await groupOf('memory \u00b7 KiB')).top).toBe(table.top);
  // The page restores its layout once that has been saved.
  const groups = () =>
    visit.page.evaluate(() => {
      const { root } = JSON.parse(localStorage.getItem('oasis.layout') ?? '{}').geometry?.grid ?? {};
      return JSON.stringify(root ?? {}).match(/"leaf"/g)?.length;
    });
  await expect.poll(groups).toBe(3);
  await visit.page.reload();
  await expect.poll(() => visit.page.locator('.dv-groupview').count()).toBe(3);
  expect((await groupOf('memory \u00b7 KiB')).top).toBe(table.top);
});

it('maximizes, restores, activates and closes panels with keys', async () => {
  const before = (await groupOf('memory \u00b7 KiB')).height;
  await tab('memory \u00b7 KiB').click();
  await visit.page.keyboard.press('m');
  await expect.poll(async () => (await groupOf('memory \u00b7 KiB')).height).toBeGreaterThan(1.5 * before);
  await visit.page.keyboard.press('m');
  await expect.poll(async () => (await groupOf('memory \u00b7 KiB')).height).toBe(before);
  await visit.page.keyboard.press('x');
  await expect.poll(() => charts().count()).toBe(1);
});

it('reads all charts at the time under the pointer, and isolates or hides lines', async () => {
  const [first, second] = [charts().first(), charts().last()];
  const box = await first.locator('.u-over').boundingBox();
  if (!box) throw new Error('no chart');
  await visit.page.mouse.move(box.x + box.width - 30, box.y + 40);
  const cursor = () => second.locator('.u-cursor-x').evaluate((line) => line.getBoundingClientRect().left);
  await expect.poll(async () => Math.abs((await cursor()) - (box.x + box.width - 30))).toBeLessThan(40);
  const lines = first.getByTestId('legend-line');
  const shown = () => lines.evaluateAll((all) => all.map((line) => line.getAttribute('aria-pressed')));
  await lines.nth(1).click();
  await expect.poll(async () => (await shown())[1]).toBe('false');
  await lines.nth(2).click({ modifiers: ['Alt'] });
  await expect
    .poll(async () => (await shown()).flatMap((pressed, line) => (pressed === 'true' ? line : [])))
    .toEqual([2]);
});
