import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';
import { SimulatedFleet } from './harness/simulated_fleet.ts';

const HOSTILE = '<img src=x onerror=document.title=1> of a line whose name is long, and longer than any room';
const LINES = Array.from({ length: 44 }, (_, index) => `line-${index + 1}`);

const rig = new Rig(() => Oasis.dac());
let fleet: SimulatedFleet;
const later: PlainNode[] = [];
let visit: Visit;

beforeAll(async () => {
  fleet = await SimulatedFleet.start(rig.oasis.channel, [...LINES.slice(0, 3), HOSTILE], 2);
  fleet.run();
});
afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});
afterAll(async () => {
  await Promise.all(later.map((node) => node.stop()));
  await fleet.stop();
});

const part = (id: string) => visit.page.getByTestId(id);
const cells = async () =>
  (await part('repeat-cell').all()).length === 0
    ? []
    : Promise.all((await part('repeat-cell').all()).map((cell) => cell.getAttribute('aria-label')));
const count = () => part('repeat-count').textContent();

const GAUGE = { kind: 'gauge', target: { node: 'line-1', instance: 'motor-00' }, metric: 'load' };

async function open(name: string, repeat: object, width = 1400): Promise<void> {
  const panels = [{ id: 'p1', kind: 'repeat', types: 'Fleet::Motor', panel: GAUGE, ...repeat }];
  const answer = await fetch(`${rig.oasis.url}/api/v1/layouts/${name}`, {
    method: 'PUT',
    body: JSON.stringify({ oasis: 'layout', version: 1, panels }),
  });
  expect(answer.status).toBe(204);
  visit = await rig.visit(`/d/${name}`, { viewport: { width, height: 844 } });
}

it('repeats a chart for all instances like it, by keys alone, and ends that', async () => {
  visit = await rig.visit('/#watch=line-1/motor-00', { viewport: { width: 1400, height: 844 } });
  await visit.seesSamples('motor-00', 1);
  const { page } = visit;
  await expect.poll(() => part('chart').count()).toBeGreaterThan(1);
  await page.keyboard.press('Control+k');
  await part('palette-field').fill('repeat for each speed');
  await expect.poll(() => part('palette-option').first().textContent()).toContain('Repeat for each instance');
  await page.keyboard.press('Enter');
  await expect.poll(count).toBe('4 instances');
  expect(await cells()).toEqual([
    `motor-00 (${HOSTILE})`,
    'motor-00 (line-1)',
    'motor-00 (line-2)',
    'motor-00 (line-3)',
  ]);
  for (const cell of await part('repeat-cell').all()) {
    await cell.scrollIntoViewIfNeeded();
    await expect.poll(() => cell.getByTestId('footer-age').textContent()).toMatch(/\d/);
    await expect.poll(() => cell.locator('canvas').count()).toBe(1);
  }
  expect(await page.title()).not.toBe('1');
  await visit.screenshot('repeat-chart');
  await part('repeat-one').focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => part('repeat').count()).toBe(0);
});

it('follows the patterns and labels that are typed, in groups by node that fold', async () => {
  const labels = await fetch(`${rig.oasis.url}/api/v1/labels`, {
    method: 'PATCH',
    body: JSON.stringify({ node: 'line-2', labels: { site: 'graz' } }),
  });
  expect(labels.ok).toBe(true);
  await open('groups', {});
  await expect.poll(count).toBe('8 instances');
  await expect.poll(() => part('repeat-group').count()).toBe(4);
  await part('repeat-group').nth(1).locator('summary').press('Enter');
  await expect.poll(() => part('repeat-cell').count()).toBe(6);
  await part('dashboard-save').click();
  await expect.poll(() => part('dashboard-changed').count()).toBe(0);
  await visit.page.reload();
  await expect.poll(() => part('repeat-cell').count()).toBe(6);
  await part('repeat-choose').press('Enter');
  await part('repeat-labels').fill('site=gr*');
  await part('repeat-labels').press('Enter');
  await expect.poll(cells).toEqual(['motor-00 (line-2)', 'motor-01 (line-2)']);
  await expect.poll(() => visit.page.locator('[data-testid=repeat-labels]:focus').count()).toBe(1);
  await part('repeat-instances').fill('*-01');
  await part('repeat-instances').press('Enter');
  await expect.poll(cells).toEqual(['motor-01 (line-2)']);
  await part('repeat-nodes').fill('nothing');
  await part('repeat-nodes').press('Enter');
  await expect.poll(() => visit.page.getByText('No instance matches.').count()).toBe(1);
  await visit.screenshot('repeat-none');
});

it('changes the settings of all panels with those of one', async () => {
  await open('settings', { instances: 'motor-00' });
  await expect.poll(count).toBe('4 instances');
  await part('repeat-cell').nth(1).getByTestId('panel-settings').click();
  await part('settings-min').fill('7');
  await part('settings-max').fill('70');
  expect(await part('settings-repeat').count()).toBe(0);
  await part('settings-apply').click();
  for (const place of [0, 1, 2, 3])
    await expect.poll(() => part('repeat-cell').nth(place).textContent()).toContain('70');
  await part('dashboard-save').click();
  await expect.poll(() => part('dashboard-changed').count()).toBe(0);
  const saved = await (await fetch(`${rig.oasis.url}/api/v1/layouts/settings`)).json();
  expect(saved.panels[0].panel).toEqual({ ...GAUGE, settings: { min: 7, max: 70 } });
});

it('shows instances that appear later by themselves, 40 at most, and says how many are left out', async () => {
  const panel = { ...GAUGE, metric: 'temperature' };
  await open('later', { nodes: 'line-*', instances: 'motor-00', panel });
  await expect.poll(count).toBe('3 instances');
  const value = () => part('repeat-cell').first().locator('svg.dial').getAttribute('aria-label');
  const goesOn = async () => {
    const before = await value();
    await expect.poll(value).not.toBe(before);
  };
  await goesOn();
  const start = (name: string) =>
    PlainNode.start(rig.oasis.channel, name, [{ name: 'motor-00', schema: SimulatedFleet.SCHEMA, hertz: 1 }]);
  later.push(...(await Promise.all(LINES.slice(3, 5).map(start))));
  await expect.poll(cells).toEqual([1, 2, 3, 4, 5].map((line) => `motor-00 (line-${line})`));
  // The panels that were there before are still read.
  for (let samples = 0; samples < 3; samples++) await goesOn();
  // A narrow screen has other panels.
  await visit.page.setViewportSize({ width: 390, height: 844 });
  await expect.poll(() => part('stack').count()).toBe(1);
  for (let samples = 0; samples < 3; samples++) await goesOn();
  await visit.page.setViewportSize({ width: 1400, height: 844 });
  await expect.poll(() => part('stack').count()).toBe(0);
  for (let samples = 0; samples < 3; samples++) await goesOn();
  later.push(...(await Promise.all(LINES.slice(5).map(start))));
  await expect.poll(count).toMatch(/^40 of 44 instances are shown; 4 are left out/);
  expect((await cells()).slice(8, 11)).toEqual([9, 10, 11].map((line) => `motor-00 (line-${line})`));
  await visit.screenshot('repeat-many');
});

it('shows one panel below the other on a phone', async () => {
  await open(
    'phone',
    {
      panel: { kind: 'series', mode: 'lines', sources: [{ target: GAUGE.target, metrics: ['speed'] }] },
      instances: 'motor-00',
    },
    390,
  );
  await expect.poll(() => part('repeat-cell').count()).toBeGreaterThan(3);
  const boxes = await Promise.all(
    (await part('repeat-cell').all()).slice(0, 3).map((cell) => cell.boundingBox()),
  );
  for (const box of boxes) {
    expect(box?.x).toBe(boxes[0]?.x);
    expect(box?.width).toBeGreaterThan(300);
    expect(box && box.x + box.width).toBeLessThanOrEqual(390);
  }
  await visit.screenshot('repeat-phone');
});
