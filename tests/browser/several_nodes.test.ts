import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const OVEN = {
  name: 'Oven',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    { name: 'temperature', type: 'real64', unit: 'Cel' },
    { name: 'bytes', type: 'uint64', unit: 'By' },
    { name: 'turns', type: 'uint64', kind: 'counter' },
  ],
};

const rig = new Rig(() => Oasis.dac());
let nodes: PlainNode[];
let visit: Visit;

beforeAll(async () => {
  nodes = await Promise.all(
    ['plant-7', 'plant-8'].map((name) =>
      PlainNode.start(rig.oasis.channel, name, [
        { name: 'oven', schema: OVEN, hertz: 10 },
        { name: `valve of ${name}`, schema: OVEN, kind: 'on-change' },
      ]),
    ),
  );
  const large = BigUint64Array.of(18_446_744_073_709_551_615n, 9_007_199_254_740_991n);
  for (const node of nodes)
    node.flush(
      'oven',
      [Date.now() - 2000, Date.now()],
      [Float64Array.of(1234.567891, -0.123456789), large, large],
    );
});

beforeEach(async () => {
  visit = await rig.visit('#watch=plant-7/oven,plant-8/oven,plant-7/valve of plant-7', {
    viewport: { width: 1400, height: 900 },
  });
  await expect.poll(() => visit.page.getByTestId('metric').count()).toBeGreaterThan(5);
});

afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
});

it('shows the node of an instance only if several nodes have one of that name', async () => {
  const tabs = () => visit.page.locator('.dv-default-tab-content').allTextContents();
  await expect.poll(tabs).toContain('oven (plant-7) \u00b7 temperature');
  const titles = await tabs();
  expect(titles).toContain('oven (plant-8)');
  expect(titles).toContain('valve of plant-7');
});

it('truncates no number and shows the rate control with three instances on a small screen', async () => {
  const cut = () =>
    visit.page
      .locator('.metrics td.value, .metrics td.note, .gauge-figure')
      .evaluateAll((cells) =>
        cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent),
      );
  await expect.poll(cut).toEqual([]);
  const value = visit.page.locator('[data-metric=bytes] [data-testid=value]').first();
  expect(await value.getAttribute('title')).toContain('9\u202f007\u202f199\u202f254\u202f740\u202f991');
  const isWhole = await visit.page
    .getByTestId('hertz-set')
    .first()
    .evaluate((button) => {
      const panel = button.closest('.card')?.getBoundingClientRect();
      const { bottom, right } = button.getBoundingClientRect();
      return panel !== undefined && bottom <= panel.bottom && right <= panel.right;
    });
  expect(isWhole).toBe(true);
});

it('pauses with the space bar after a click, and presses a button with keyboard focus', async () => {
  const instance = visit.page.locator('[data-testid=instance][data-instance="valve of plant-8"]');
  const live = visit.page.getByTestId('live');
  await instance.click();
  await expect.poll(() => instance.getAttribute('aria-pressed')).toBe('true');
  await visit.page.keyboard.press(' ');
  await expect.poll(() => live.getAttribute('data-live')).toBe('false');
  expect(await instance.getAttribute('aria-pressed')).toBe('true');
  await visit.page.getByTestId('filter').focus();
  await visit.page.keyboard.press('Tab');
  await expect
    .poll(() => visit.page.evaluate(() => document.activeElement?.getAttribute('data-testid')))
    .toBe('instance');
  const focused = visit.page.locator('[data-testid=instance]:focus');
  const before = await focused.getAttribute('aria-pressed');
  await visit.page.keyboard.press(' ');
  await expect.poll(() => focused.getAttribute('aria-pressed')).not.toBe(before);
});

it('finds instances by a metric, and tells those of one name apart where panels are added', async () => {
  const part = (testId: string) => visit.page.getByTestId(testId);
  await part('filter').fill('plant-8 temper');
  const names = () => part('instance').locator('.tree-instance-name').allTextContents();
  await expect.poll(names).toEqual(['oven', 'valve of plant-8']);
  expect(await part('instance').first().textContent()).toContain('temperature');
  await part('open-add').click();
  const legends = () => part('add-target').locator('legend').allTextContents();
  await expect.poll(legends).toHaveLength(4);
  const [last, ...watched] = (await legends()).reverse();
  expect(watched.sort()).toEqual(['oven plant-7', 'oven plant-8', 'valve of plant-7 plant-7']);
  // Watched instances come first.
  expect(last).toBe('valve of plant-8 plant-8');
  await part('pick-valve of plant-8-temperature').check();
  await part('add-panel').click();
  await expect.poll(() => part('tree-count').textContent()).toBe('4 of 4 watched');
});

it('sets parameters of many instances at once', async () => {
  const part = (testId: string) => visit.page.getByTestId(testId);
  const receivedCommands = () =>
    nodes.map((node) => node.commands.splice(0).map(({ op, id, uuid, ...command }) => command));
  receivedCommands();
  await part('open-control').click();
  await part('control').waitFor();
  expect(await part('control-set').textContent()).toBe('Set for 2');
  expect(await part('control-trigger').isDisabled()).toBe(true);
  const done = async () => {
    const texts = await visit.page
      .locator('[data-testid=control-status][data-status=done]')
      .allTextContents();
    // Each has its time.
    return texts.map((text) => text.replace(/ \d\d:\d\d:\d\d$/, ''));
  };
  await part('control-deadband').getByTestId('deadband-value').fill('0.5');
  await part('control-deadband').getByTestId('deadband-set').click();
  await expect.poll(done).toEqual(['Deadband of temperature: done']);
  expect(receivedCommands()).toEqual([
    [{ instance: 'valve of plant-7', command: 'deadband', metric: 'temperature', deadband: 0.5 }],
    [],
  ]);
  await part('control-demand').getByTestId('demand-min').fill('50');
  await part('control-demand').getByTestId('demand-max').fill('20');
  await part('control-demand').getByTestId('demand-on').click();
  await expect.poll(() => part('control-problem').textContent()).toContain('must not be above');
  await part('control-demand').getByTestId('demand-min').fill('2');
  await part('control-demand').getByTestId('demand-on').click();
  await expect
    .poll(done)
    .toEqual(['Follow demand: done', 'Follow demand: done', 'Deadband of temperature: done']);
  await expect.poll(() => part('control-demand-off').textContent()).toBe('Keep the rate (2)');
  await part('control-demand-off').click();
  await expect.poll(() => part('control-demand-off').count()).toBe(0);
});

it('names the targets of commands at any width, and asks before it disables several', async () => {
  const part = (testId: string) => visit.page.getByTestId(testId);
  await part('open-control').click();
  const names = part('control-target').locator('.target-name');
  await expect.poll(() => names.count()).toBe(3);
  for (const width of [380, 1366, 3840]) {
    await visit.page.setViewportSize({ width, height: 900 });
    // A name that is not shown, or only in part, has a narrower box than its text.
    const areWhole = () =>
      names.evaluateAll((all) =>
        all.map((name) => name.scrollWidth <= name.clientWidth && name.clientWidth > 0),
      );
    await expect.poll(areWhole).toEqual([true, true, true]);
  }
  for (const node of nodes) node.commands.splice(0);
  await part('control-disable').click();
  expect(await part('control-disable-sure').textContent()).toBe('Disable 3 instances now');
  await part('control').getByRole('button', { name: 'Cancel' }).click();
  // Messages keep their order: the next command would arrive after a hidden one.
  await part('control-enable').click();
  const received = () => nodes.flatMap((node) => node.commands.map(({ command }) => command));
  await expect.poll(received).toEqual(['enable', 'enable', 'enable']);
});
