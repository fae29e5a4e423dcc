import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const ENGINE = {
  name: 'Engine',
  uuid: '6e3f1d52-7b6c-4a60-9a0e-0f2d5c1b7a11',
  version: '1.0',
  metrics: [{ name: 'temperature', type: 'real64', unit: 'Cel', label: 'Temperature', min: 0, max: 200 }],
};

const rig = new Rig(() => Oasis.dac());
let node: PlainNode;
let visit: Visit;

beforeAll(async () => {
  node = await PlainNode.start(rig.oasis.channel, 'plant-7', [{ name: 'engine', schema: ENGINE }]);
  const start = Date.now() - 10_000;
  const times = Array.from({ length: 100 }, (_, index) => start + index * 100);
  node.flush('engine', times, [Float64Array.from(times, () => 100)]);
});

beforeEach(async () => {
  visit = await rig.visit('#watch=plant-7/engine');
  await part('legend-value').first().waitFor();
});

afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

afterAll(() => node.stop());

const part = (testId: string) => visit.page.getByTestId(testId);

async function settings(): Promise<void> {
  await part('panel-settings').first().click();
  await part('settings').waitFor();
}

it('shows a chart in another unit, with a title and a color, also after a reload', async () => {
  await expect.poll(() => part('legend-value').textContent()).toMatch(/^100/);
  await settings();
  await part('settings-title').fill('Boiler \u202e1');
  await part('settings-unit').fill('[degF]');
  await part('settings-decimals').selectOption('2');
  await part('settings-color').nth(4).check({ force: true });
  await part('settings-apply').click();
  const looks = async () => {
    await expect.poll(() => part('legend-value').textContent()).toBe('212.00\u202f\u00b0F');
    expect(await part('legend-line').locator('.series-4').count()).toBe(1);
    // Text that is hidden in a title is shown.
    expect(await visit.page.locator('.dv-default-tab-content').allTextContents()).toContain(
      'Boiler \\u{202e}1',
    );
  };
  await looks();
  await expect
    .poll(() => visit.page.evaluate(() => localStorage.getItem('oasis.layout')?.includes('degF')))
    .toBe(true);
  await visit.page.reload();
  await looks();
  await settings();
  await part('settings-reset').click();
  await expect.poll(() => part('legend-value').textContent()).toMatch(/^100\u202f\u00b0C/);
});

it('draws between chosen ends, with a logarithmic axis, and says why it cannot', async () => {
  await settings();
  await part('settings-min').fill('300');
  await part('settings-max').fill('20');
  await expect.poll(() => part('settings-problem').textContent()).toContain('begin below');
  expect(await part('settings-apply').isDisabled()).toBe(true);
  await part('settings-unit').fill('m/s');
  await expect.poll(() => part('settings-problem').textContent()).toContain('m/s');
  await part('settings-unit').fill('');
  await part('settings-min').fill('');
  await part('settings-max').fill('');
  await part('settings-log').check();
  const chart = () => part('chart').locator('canvas').first();
  const before = await chart().evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
  await part('settings-apply').click();
  await expect
    .poll(() => chart().evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL()))
    .not.toBe(before);
});

it('colors a gauge by thresholds of its own', async () => {
  await visit.page.keyboard.press('a');
  await part('kind-gauge').locator('..').click();
  await part('pick-engine-temperature').check();
  await part('add-panel').click();
  await part('gauge').waitFor();
  await part('gauge').getByTestId('panel-settings').click();
  await part('settings-unit').fill('K');
  await part('threshold-add').click();
  await part('threshold-value').fill('370');
  await part('threshold-severity').selectOption('alarm');
  await part('settings-apply').click();
  await expect.poll(() => part('gauge').getAttribute('data-severity')).toBe('alarm');
  expect(await part('gauge').locator('.dial-text').textContent()).toMatch(/^373\u202fK$/);
});
