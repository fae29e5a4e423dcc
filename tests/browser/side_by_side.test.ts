import { afterAll, beforeAll, expect, it } from 'vitest';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const UNITS = ['m/s', 'Cel', 'bar', 'V', 'A', 'W', 'Hz', '%', 'kg'];
const MACHINE = {
  name: 'Plant::Machine',
  uuid: '0f6f6f0b-5a8e-4f3a-9b1f-70c2a5b51d01',
  version: '1.0',
  metrics: UNITS.map((unit, index) => ({
    name: `m${index}`,
    type: 'real64',
    unit,
    ...(unit === 'Cel' && { alarm: { above: 90 } }),
  })),
};

const rig = new Rig(() => Oasis.dac());
let node: PlainNode;

beforeAll(async () => {
  node = await PlainNode.start(rig.oasis.channel, 'plant-7', [{ name: 'machine', schema: MACHINE }]);
  const times = Array.from({ length: 50 }, (_, index) => Date.now() - 5000 + index * 100);
  node.flush(
    'machine',
    times,
    UNITS.map(() => Float64Array.from(times, () => 99)),
  );
});

afterAll(() => node.stop());

it('shows a chart for each of nine units together, that of the alarm first', async () => {
  const visit = await rig.visit();
  // The page opens an instance without its alarms if they are late.
  await expect.poll(() => visit.page.getByTestId('alarm-count').textContent(), { timeout: 20_000 }).toBe('1');
  await visit.page.goto(`${rig.oasis.url}/#watch=plant-7/machine`);
  const charts = visit.page.locator('.chart:visible');
  await expect.poll(() => charts.count(), { timeout: 20_000 }).toBe(9);
  const boxes = await charts.evaluateAll((all) => all.map((chart) => chart.getBoundingClientRect().toJSON()));
  for (const { width, height } of boxes) {
    expect(width).toBeGreaterThan(180);
    expect(height).toBeGreaterThan(90);
  }
  const titles = await visit.page.locator('.dv-default-tab-content').allTextContents();
  expect(titles.filter((title) => title.includes('\u00b7'))[0]).toBe('machine \u00b7 m1');
  const first = visit.page.locator('.dv-tab').filter({ hasText: 'm1' });
  const corner = await first.boundingBox();
  const others = boxes.map(({ x, y }) => [x, y]);
  // Nothing is further to the left or above.
  for (const [x, y] of others) {
    expect(x).toBeGreaterThanOrEqual((corner?.x ?? 0) - 1);
    expect(y).toBeGreaterThan(corner?.y ?? 0);
  }
  expect(visit.complaints).toEqual([]);
  await visit.screenshot('nine-units');
  await visit.close();
});

it('opens a saved layout as it was saved, with its tabs', async () => {
  const visit = await rig.visit();
  const target = { node: 'plant-7', instance: 'machine' };
  const panels = ['m0', 'm1', 'm2'].map((metric, index) => ({
    id: `p${index + 1}`,
    kind: 'series',
    mode: 'lines',
    sources: [{ target, metrics: [metric] }],
  }));
  const views = panels.map(({ id }) => id);
  const geometry = {
    grid: {
      root: {
        type: 'branch',
        data: [{ type: 'leaf', data: { views, activeView: 'p2', id: '1' }, size: 800 }],
      },
      width: 1000,
      height: 800,
      orientation: 'HORIZONTAL',
    },
    panels: Object.fromEntries(panels.map(({ id, kind }) => [id, { id, contentComponent: kind, title: id }])),
    activeGroup: '1',
  };
  const layout = JSON.stringify({ oasis: 'layout', version: 1, panels, geometry });
  await visit.page.evaluate((text) => localStorage.setItem('oasis.layout', text), layout);
  await visit.page.goto(rig.oasis.url);
  await visit.page.reload();
  await expect.poll(() => visit.page.locator('.dv-tab').count()).toBe(3);
  await expect.poll(() => visit.page.locator('.chart:visible').count()).toBe(1);
  expect(await visit.page.locator('.dv-groupview').count()).toBe(1);
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

it('shows a chart on the first screen of a phone, and one menu', async () => {
  const visit = await rig.visit('#watch=plant-7/machine', { viewport: { width: 390, height: 844 } });
  const chart = visit.page.getByTestId('chart').first();
  await chart.waitFor();
  const box = await chart.boundingBox();
  expect((box?.y ?? 844) + (box?.height ?? 0)).toBeLessThan(844);
  expect(await visit.page.getByTestId('open-add').isVisible()).toBe(false);
  await visit.page.getByTestId('open-menu').click();
  await visit.page.getByTestId('open-add').click();
  await visit.page.getByTestId('add').waitFor();
  expect(await visit.page.getByTestId('open-add').isVisible()).toBe(false);
  expect(visit.complaints).toEqual([]);
  await visit.close();
});
