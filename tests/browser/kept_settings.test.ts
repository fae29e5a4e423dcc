import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { closeVisits, sharedBrowser, Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { Oasis } from './harness/oasis.ts';

const PROBES = ['--probe', 'processor', '--probe', 'memory'];
const HOSTILE = '<img src=x onerror=alert(1)>\u202e';

let folder: string;
let browser: Browser;
let dac: Oasis;
let plant: Oasis;
let other: Oasis;
let visit: Visit;

const startDac = (at = {}) => Oasis.dac(at, '--config', join(folder, 'oasis.toml'));
const startNode = (name: string) => Oasis.node(dac.channel, '--name', name, ...PROBES);

beforeAll(async () => {
  folder = temporaryFolder();
  writeFileSync(
    join(folder, 'oasis.toml'),
    `[channel]\nsettings_dir = ${JSON.stringify(join(folder, 'kept'))}\n`,
  );
  [browser, dac] = await Promise.all([sharedBrowser(), startDac()]);
  [plant, other] = await Promise.all([startNode('plant'), startNode('other')]);
});

afterAll(async () => {
  await closeVisits();
  await Promise.all([dac, plant, other].map((process) => process.stop()));
});

beforeEach(async () => {
  visit = await Visit.to(browser, `${dac.url}/#watch=plant/processor,other/processor`);
});

afterEach(async () => {
  await visit.close();
});

const part = (testId: string) => visit.page.getByTestId(testId);
const card = () => visit.page.locator('[data-testid=card][data-node=plant][data-instance=processor]');
const line = (setting: string) => card().locator(`[data-testid=kept-line][data-setting="${setting}"]`);

it('keeps a rate over a reload, a new run of the node and a killed DAC, and resets it with one click', async () => {
  await card().waitFor();
  await card().getByTestId('hertz-preset-10').click();
  await expect.poll(() => line('rate').getAttribute('data-state')).toBe('run');
  expect(await line('rate').textContent()).toContain('for this run only \u00b7 from the program: 1 Hz');
  await line('rate').getByTestId('keep').click();
  await expect.poll(() => line('rate').getAttribute('data-state')).toBe('applied');
  expect(await line('rate').textContent()).toMatch(/Rate 10 Hz kept: set by this host .* ago/);
  await visit.screenshot('kept-rate');

  await visit.page.reload();
  await expect.poll(() => line('rate').getAttribute('data-state')).toBe('applied');
  await plant.kill();
  plant = await startNode('plant');
  await expect.poll(() => card().getByTestId('hertz').textContent()).toBe('of 10 Hz set');
  await expect.poll(() => line('rate').getAttribute('data-state')).toBe('applied');

  const at = { listen: dac.listen, channel: dac.channel };
  await dac.kill();
  await plant.kill();
  dac = await startDac(at);
  plant = await startNode('plant');
  // Until then the page shows what it knew before.
  await card().getByText('the DAC restarted').waitFor();
  await expect.poll(() => line('rate').getAttribute('data-state')).toBe('applied');
  await expect.poll(() => card().getByTestId('hertz').textContent()).toBe('of 10 Hz set');

  await line('rate').getByTestId('reset').click();
  await expect.poll(() => card().getByTestId('hertz').textContent()).toBe('of 1 Hz set');
  await expect.poll(() => line('rate').count()).toBe(0);
});

it('keeps and resets what the dialog sets for several instances', async () => {
  await card().waitFor();
  await visit.page.keyboard.press('r');
  await expect.poll(() => part('control-target').count()).toBeGreaterThan(1);
  await part('control-keep').check();
  await part('control-hertz').fill('4');
  await part('control-set').click();
  await expect.poll(() => part('control-reset').textContent()).toBe('Reset (2)');
  await expect.poll(() => line('rate').getAttribute('data-state')).toBe('applied');
  await visit.screenshot('kept-by-dialog');
  await part('control-reset').click();
  await expect.poll(() => part('control-reset').textContent()).toBe('Reset (0)');
  expect(visit.complaints).toEqual([]);
});

it('labels an instance and its node, finds them, and groups a fleet by them', async () => {
  await card().waitFor();
  await card().getByTestId('labels-open').click();
  const add = async (section: string, text: string) => {
    await part(section).getByTestId('label-text').fill(text);
    await part(section).getByTestId('label-add').click();
  };
  await add('labels-node', 'no pair');
  await expect
    .poll(() => part('labels-node').getByTestId('label-problem').textContent())
    .toContain('site=graz');
  await add('labels-node', 'site=graz');
  await add('labels-instance', `unit=${HOSTILE}`);
  await expect.poll(() => part('label').count()).toBe(2);
  await add('labels-instance', `much=${'v'.repeat(300)}`);
  await expect
    .poll(() => part('labels-instance').getByTestId('label-problem').textContent())
    .toContain('256');
  await visit.screenshot('labels-dialog');
  await visit.page.keyboard.press('Escape');
  await expect.poll(() => card().getByTestId('labels').textContent()).toContain('site=graz');
  await visit.screenshot('labels-on-card');

  await visit.page.getByTestId('filter').fill('site=graz');
  await expect.poll(() => visit.page.locator('[data-testid=node]').count()).toBe(1);
  await visit.page.getByTestId('filter').fill('');

  await visit.page.keyboard.press('Control+k');
  await visit.page.getByTestId('palette-field').fill('labels of processor');
  await expect.poll(() => part('palette-option').first().textContent()).toContain('Labels of processor');
  await visit.page.getByTestId('palette-field').fill('site=graz');
  await expect.poll(() => part('palette-option').first().textContent()).toContain('plant');
  await visit.page.keyboard.press('Escape');

  await visit.page.goto(dac.url);
  await visit.page.keyboard.press('a');
  await part('add').waitFor();
  await part('kind-fleet').locator('..').click();
  await part('add-panel').click();
  await part('fleet-choose').click();
  // Until the metrics are chosen: then the panel is drawn anew.
  await expect.poll(() => part('fleet-metric-choice-0').inputValue()).not.toBe('');
  await part('fleet-group-by').selectOption('label');
  await part('fleet-group-text').fill('site');
  await part('fleet-group-text').press('Enter');
  await expect
    .poll(() =>
      part('fleet-group').evaluateAll((all) => all.map((group) => (group as HTMLElement).dataset.group)),
    )
    .toEqual(['graz', '']);
  await expect.poll(() => part('fleet-row-labels').first().textContent()).toContain('site=graz');
  await visit.screenshot('fleet-by-label');
  await part('fleet-labels').fill('site=g*');
  await part('fleet-labels').press('Enter');
  await expect.poll(() => part('fleet-count').textContent()).toBe('1 of 1 nodes');
  await part('fleet-search').fill('site=graz');
  await expect.poll(() => part('fleet-row').count()).toBe(1);
  // The browser itself says that the DAC has refused the long value; nothing else complains.
  expect(visit.complaints).toEqual([expect.stringContaining('422')]);
});
