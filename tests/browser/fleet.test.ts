import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';
import { SimulatedFleet } from './harness/simulated_fleet.ts';

const NODES = Array.from(
  { length: 60 },
  (_, index) => `line-${1 + (index % 3)}-press-${String(index).padStart(2, '0')}`,
);
const EACH = 2;
/** A name that tries to look like something else. */
const HOSTILE = 'line-1-<img src=x onerror=alert(1)>\u202e';

const rig = new Rig(() => Oasis.dacWithoutRules());
let fleet: SimulatedFleet;
let hostile: PlainNode;
let visit: Visit;

beforeAll(async () => {
  fleet = await SimulatedFleet.start(rig.oasis.channel, NODES, EACH);
  hostile = await PlainNode.start(rig.oasis.channel, HOSTILE, []);
  fleet.run();
  visit = await rig.visit();
});

afterAll(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
  await Promise.all([fleet.stop(), hostile.stop()]);
});

const part = (testId: string) => visit.page.getByTestId(testId);
const rows = () => part('fleet-row');
const first = (attribute: string) => () => rows().first().getAttribute(attribute);

it('opens from the list, and has a row for each node with three metrics', async () => {
  await part('open-fleet').click();
  await expect.poll(() => part('fleet-count').textContent()).toBe('60 of 60 nodes');
  await expect.poll(first('data-node')).toBe('line-1-press-00');
  // Chosen by themselves from the type.
  await expect.poll(() => part('fleet-head').textContent()).toContain('Speed');
  await expect.poll(() => rows().first().getByTestId('fleet-metric-1').textContent()).toMatch(/\d.*°C/);
  await expect.poll(first('data-health')).toBe('live');
  expect(await rows().count()).toBeLessThan(70);
  await expect.poll(drawn).toBe(true);
  await visit.screenshot('fleet-nodes');
});

/** Whether there is anything on the canvas. */
async function drawn(): Promise<boolean> {
  return part('fleet-sparks').evaluate((canvas: HTMLCanvasElement) => {
    const pixels = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data;
    return pixels?.some((value) => value > 0) ?? false;
  });
}

it('sorts by a metric, and draws other rows while it scrolls', async () => {
  await part('fleet-sort-metric-0').click();
  await expect.poll(first('data-node')).toBe('line-3-press-59');
  await part('fleet-sort-metric-0').click();
  await expect.poll(first('data-node')).toBe('line-1-press-00');
  await part('fleet-list').evaluate((list) => list.scrollTo(0, list.scrollHeight));
  const last = part('fleet-list').locator('[data-index="59"]');
  await expect.poll(() => last.getAttribute('data-node')).toBe('line-3-press-59');
  await part('fleet-list').evaluate((list) => list.scrollTo(0, 0));
  await expect.poll(first('data-node')).toBe('line-1-press-00');
});

it('searches, and groups by what a pattern captures', async () => {
  await part('fleet-search').fill('press-07');
  await expect.poll(() => part('fleet-count').textContent()).toBe('1 of 60 nodes');
  await part('fleet-search').fill('');
  await part('fleet-choose').click();
  await part('fleet-group-by').selectOption('pattern');
  await part('fleet-group-text').fill('line-*-press-*');
  await part('fleet-group-text').press('Enter');
  await expect.poll(() => part('fleet-group').first().textContent()).toContain('1');
  expect(await part('fleet-group').first().textContent()).toContain('20');
  await part('fleet-group').first().click();
  await expect.poll(() => part('fleet-group').first().getAttribute('data-open')).toBe('false');
  await expect.poll(() => part('fleet-group').nth(1).getAttribute('data-index')).toBe('1');
  await visit.screenshot('fleet-groups');
  await part('fleet-group-by').selectOption('none');
  await part('fleet-choose').click();
});

it('can be used with keys alone: selects rows, and compares them in one chart', async () => {
  await part('fleet-sort-name').click();
  await expect.poll(first('data-node')).toBe('line-1-press-00');
  await part('fleet-list').focus();
  for (const key of ['Home', ' ', 'ArrowDown', ' ', 'ArrowDown', 'ArrowDown', ' '])
    await visit.page.keyboard.press(key);
  await expect.poll(() => part('fleet-chosen').textContent()).toContain('3 selected');
  await visit.page.keyboard.press('c');
  await expect.poll(() => part('series').count()).toBe(1);
  await expect.poll(() => part('legend-value').count()).toBe(3);
  await expect
    .poll(() => part('legend-value').allTextContents())
    .toEqual(expect.arrayContaining([expect.stringMatching(/\d/)]));
  await visit.screenshot('fleet-compare');
  await part('open-fleet').click();
  await part('fleet-list').focus();
  await visit.page.keyboard.press('Escape');
  await expect.poll(() => part('fleet-chosen').count()).toBe(0);
});

it('shows instances as tiles, and says what is offline', async () => {
  await part('fleet-tiles').click();
  await expect.poll(() => part('fleet-count').textContent()).toBe('120 of 120 instances');
  await expect.poll(() => part('fleet-tile').count()).toBeGreaterThan(20);
  await fleet.nodes[0].stop();
  await expect.poll(() => part('fleet-count-offline').textContent()).toContain('2 offline');
  await part('fleet-count-offline').click();
  await expect.poll(() => part('fleet-tile').count()).toBe(2);
  expect(await part('fleet-tile').first().getAttribute('aria-description')).toContain('Offline');
  await visit.screenshot('fleet-tiles');
  await part('fleet-search').fill('');
});

it('opens an instance with a click, and keeps its settings over a reload', async () => {
  await part('fleet-instances').click();
  await part('fleet-search').fill('press-33 motor-01');
  await expect.poll(() => rows().count()).toBe(1);
  await rows().first().locator('.fleet-name').click();
  await expect.poll(() => visit.card('motor-01').count()).toBe(1);
  // The page restores its layout once that has been saved.
  const stored = () => visit.page.evaluate(() => localStorage.getItem('oasis.layout') ?? '');
  await expect.poll(stored).toMatch(/"shape":"instances".*motor-01/);
  await visit.page.reload();
  await part('open-fleet').click();
  await expect.poll(() => part('fleet-instances').getAttribute('aria-pressed')).toBe('true');
  await expect.poll(() => part('fleet-count').textContent()).toBe('120 of 120 instances');
});

it('shows what an unknown pattern finds: nothing', async () => {
  await part('fleet-choose').click();
  await part('fleet-pattern-nodes').fill('<img src=x>*');
  await part('fleet-pattern-nodes').press('Enter');
  await expect.poll(() => part('fleet-state').textContent()).toContain('No instance matches');
});

it('keeps metrics of one name apart by their units, and says why nothing can be compared', async () => {
  const schema = {
    name: 'Fleet::Boiler',
    uuid: randomUUID(),
    version: '1.0',
    metrics: [{ name: 'temperature', type: 'real64', unit: 'K' }],
  };
  const boiler = await PlainNode.start(rig.oasis.channel, 'boiler', [{ name: 'steam', schema, hertz: 1 }]);
  boiler.flush('steam', [Date.now()], [Float64Array.of(400)]);
  await part('fleet-pattern-nodes').fill('*');
  await part('fleet-pattern-nodes').press('Enter');
  const offers = () => part('fleet-metric-choice-0').locator('option').allTextContents();
  await expect
    .poll(offers)
    .toEqual(
      expect.arrayContaining([
        'temperature [\u00b0C] \u00b7 120 instances',
        'temperature [K] \u00b7 1 instance',
      ]),
    );
  await part('fleet-metric-choice-0').selectOption({ label: 'temperature [K] \u00b7 1 instance' });
  await expect.poll(() => part('fleet-head').textContent()).toContain('temperature [K]');
  const compare = part('fleet-compare-0');
  await expect.poll(() => compare.getAttribute('aria-disabled')).toBe('false');
  await part('fleet-search').fill('steam');
  await expect.poll(() => rows().count()).toBe(1);
  await expect.poll(() => part('fleet-metric-0').first().textContent()).toMatch(/400.K/);
  await part('fleet-pattern-nodes').fill('line-*');
  await part('fleet-pattern-nodes').press('Enter');
  await expect.poll(() => compare.getAttribute('title')).toBe('No instance has temperature [K].');
  expect(await compare.getAttribute('aria-disabled')).toBe('true');
  await compare.click({ force: true });
  await expect.poll(() => part('notice').textContent()).toContain('No instance has temperature [K].');
  await boiler.stop();
});
