import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';
import { SimulatedFleet } from './harness/simulated_fleet.ts';

const HOSTILE = '<img src=x onerror=document.title=1>';

const rig = new Rig(() => Oasis.dac());
let fleet: SimulatedFleet;
let visit: Visit;

beforeAll(async () => {
  fleet = await SimulatedFleet.start(rig.oasis.channel, ['plant-7', 'plant-8', HOSTILE], 1);
  fleet.run();
});
afterAll(() => fleet.stop());

beforeEach(async () => {
  visit = await rig.visit('/#watch=plant-7/motor-00', { viewport: { width: 1400, height: 844 } });
  await visit.seesSamples('motor-00', 1);
});
afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  expect(await visit.page.title()).not.toBe('1');
  await visit.close();
});

const part = (id: string) => visit.page.getByTestId(id);
/** The chart of a metric of plant-7, whatever other lines it has later. */
async function chart(metric: string) {
  const found = visit.page
    .locator('[data-testid=series]')
    .filter({ has: visit.page.getByText(metric, { exact: true }) });
  await expect.poll(() => found.count()).toBe(1);
  return visit.page.locator(
    `[data-testid=series][data-panel=${JSON.stringify(await found.getAttribute('data-panel'))}]`,
  );
}
const lines = (of: Locator) => of.getByTestId('legend-value').count();

it('adds a metric of the table to the chart that it is dropped on, and undoes that', async () => {
  const speed = await chart('Speed');
  await expect.poll(() => lines(speed)).toBe(1);
  await visit.page.locator('[data-metric=load] .metric-name').dragTo(speed.getByTestId('chart'));
  await expect.poll(() => lines(speed)).toBe(2);
  await visit.screenshot('drag-metric');
  // The chart has it now.
  await visit.page.locator('[data-metric=load] .metric-name').dragTo(speed.getByTestId('chart'));
  await expect.poll(() => part('notice').textContent()).toContain('already');
  await visit.page.keyboard.press('z');
  await expect.poll(() => visit.page.locator('.legend-line').count()).toBe(3);
});

it('adds the same metric of another instance that is dragged from the list', async () => {
  const temperature = await chart('temperature');
  await expect.poll(() => lines(temperature)).toBe(1);
  const row = visit.page.locator(`[data-testid=instance][data-node=${JSON.stringify(HOSTILE)}]`);
  await row.dragTo(temperature.getByTestId('chart'));
  await expect.poll(() => lines(temperature)).toBe(2);
  await expect.poll(() => temperature.textContent()).toContain(HOSTILE);
});

it('adds a metric to an open chart by keys alone', async () => {
  const { page } = visit;
  await expect.poll(() => visit.page.locator('.legend-line').count()).toBe(3);
  await page.keyboard.press('Control+k');
  await part('palette-field').fill('motor-00.load plant-8');
  await expect.poll(() => part('palette-option').first().textContent()).toContain('plant-8');
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => part('palette-option').first().textContent()).toContain('Add to');
  await part('palette-field').fill('speed');
  await expect.poll(() => part('palette-option').first().textContent()).toMatch(/Add to .*[Ss]peed/);
  await page.keyboard.press('Enter');
  await expect.poll(() => visit.page.locator('.legend-line').count()).toBe(4);
});

it('takes nothing that another page dropped and that is no metric', async () => {
  const drop = (text: string) =>
    part('chart')
      .first()
      .evaluate((element, data) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.setData('application/x-oasis-metric', data);
        element.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
      }, text);
  const shown = await visit.page.locator('.legend-line').count();
  for (const text of [
    '{',
    '{"target":{"node":"no","instance":"thing"},"metric":"x"}',
    '{"target":{"node":"plant-8","instance":"motor-00"},"metric":"no"}',
  ]) {
    await drop(text);
    await expect.poll(() => part('notice').textContent()).toContain('cannot draw');
  }
  expect(await visit.page.locator('.legend-line').count()).toBe(shown);
});
