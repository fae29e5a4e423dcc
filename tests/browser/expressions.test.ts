import { randomUUID } from 'node:crypto';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { closeVisits, sharedBrowser, Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { LOADED, Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';

const MINUTE = 60_000;

const ENGINE = {
  name: 'Engine',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    { name: 'torque', type: 'real64', unit: 'N.m' },
    { name: 'speed', type: 'real64', unit: '/min' },
  ],
};
const OVEN = {
  name: 'Oven',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [{ name: 'temperature', type: 'real64', unit: 'Cel' }],
};
const INSTANCES = [
  { name: 'engine', schema: ENGINE, hertz: 10 },
  { name: 'oven 1', schema: OVEN, hertz: 10 },
];

let folder: string;
let browser: Browser;
let dac: Oasis;
let node: PlainNode;
let visit: Visit;
/** The first sample of the archive, days ago, and of the memory. */
let [old, recent] = [0, 0];

/** Samples at 10 Hz: torque is constant, speed rises by 10 a sample. */
function engine(start: number, count: number): void {
  const times = Array.from({ length: count }, (_, index) => start + 100 * index);
  node.flush('engine', times, [
    Float64Array.from(times, () => 20),
    Float64Array.from(times, (_, index) => 1000 + 10 * index),
  ]);
}

beforeAll(async () => {
  folder = temporaryFolder();
  browser = await sharedBrowser();
  dac = await Oasis.dac({}, '--archive', folder);
  node = await PlainNode.start(dac.channel, 'drone-7', INSTANCES);
  old = Math.floor((Date.now() - 3 * 24 * 60 * MINUTE) / MINUTE) * MINUTE;
  // Samples are taken between the whole seconds at which a moment can begin and end.
  engine(old + 50, 600);
  await vi.waitFor(async () => expect(await dac.received()).toBe(600), LOADED);
  expect((await fetch(`${dac.url}/api/v1/archive/flush`, { method: 'POST' })).ok).toBe(true);
  // Another epoch: what is old is in the archive alone.
  await node.stop();
  await dac.stop();
  dac = await Oasis.dac({}, '--archive', folder);
  node = await PlainNode.start(dac.channel, 'drone-7', INSTANCES);
  recent = Date.now() - 20_000;
  engine(recent, 100);
  // Five seconds without the engine, in which the oven continues.
  engine(recent + 15_000, 50);
  const times = Array.from({ length: 200 }, (_, index) => recent + 100 * index);
  node.flush('oven 1', times, [Float64Array.from(times, () => 20)]);
});

beforeEach(async () => {
  visit = await Visit.to(browser, `${dac.url}#watch=drone-7/engine`, {
    viewport: { width: 1366, height: 768 },
  });
});

afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

afterAll(async () => {
  await closeVisits();
  await node.stop();
  await dac.stop();
});

const part = (testId: string): Locator => visit.page.getByTestId(testId);
const field = () => part('expression').filter({ visible: true });
const status = () => part('expression-status').filter({ visible: true }).textContent();
const line = (text: string) => part('legend-line').filter({ hasText: text }).filter({ visible: true });
const value = (text: string) => line(text).getByTestId('legend-value').textContent();

/** Opens the dialog that adds a chart of an expression. */
async function addChart(text: string): Promise<void> {
  await part('open-add').click();
  await part('kind-expression').locator('..').click();
  await field().fill(text);
}

it('completes names while somebody types, and says the unit or what is wrong', async () => {
  await part('open-add').click();
  await part('kind-expression').locator('..').click();
  await field().pressSequentially('eng');
  await expect.poll(() => part('suggestion').allTextContents()).toEqual(['enginedrone-7']);
  await visit.page.keyboard.press('ArrowDown');
  await visit.page.keyboard.press('Enter');
  expect(await field().inputValue()).toBe('engine.');
  await expect.poll(() => part('suggestion').count()).toBe(2);
  await field().pressSequentially('tor');
  await visit.page.keyboard.press('ArrowDown');
  await visit.screenshot('expression-suggestions');
  await visit.page.keyboard.press('Enter');
  expect(await field().inputValue()).toBe('engine.torque');
  await expect.poll(status).toBe('Result in N·m');
  await field().pressSequentially(' + ov');
  await visit.page.keyboard.press('ArrowDown');
  await visit.page.keyboard.press('Enter');
  expect(await field().inputValue()).toBe('engine.torque + "oven 1".');
  await field().pressSequentially('temperature');
  await expect.poll(status).toBe('Cannot add N·m and °C.');
  expect(await part('add-panel').isDisabled()).toBe(true);
  await field().fill('drone-7/oven');
  await visit.page.keyboard.press('ArrowDown');
  await visit.page.keyboard.press('Enter');
  expect(await field().inputValue()).toBe('"drone-7"/"oven 1".');
  await visit.page.keyboard.press('Escape');
});

it('computes a line of a chart, which lasts in the layout, and changes and removes it', async () => {
  await part('chart').first().waitFor();
  await visit.page.locator('.dv-tab', { hasText: 'torque' }).click();
  await visit.page.keyboard.press('e');
  await field().fill('engine.torque * engine.speed / 9.549 as [W]');
  await expect.poll(status).toBe('Result in W');
  await visit.page.keyboard.press('Enter');
  // 20 N·m at 1490 a minute, the newest sample of the second part: 1000 + 49 * 10.
  await expect.poll(() => value('9.549')).toMatch(/3121/);
  await visit.screenshot('expression-chart');
  // The browser keeps the layout a moment later.
  const stored = () => visit.page.evaluate(() => localStorage.getItem('oasis.layout'));
  await expect.poll(stored).toContain('9.549');
  await visit.page.reload();
  await expect.poll(() => value('9.549')).toMatch(/3121/);
  await part('expression-change').filter({ visible: true }).click();
  await field().fill('engine.torque * 2');
  await part('expression-done').click();
  await expect.poll(() => value('torque * 2')).toMatch(/^40/);
  await part('expression-change').filter({ visible: true }).click();
  await part('expression-remove').click();
  await expect.poll(() => line('torque * 2').count()).toBe(0);
});

it('has no value where an input has none, and says so', async () => {
  await addChart('"oven 1".temperature * engine.speed');
  await expect.poll(status).toContain('°C does not begin at zero');
  await field().fill('("oven 1".temperature in [K]) * engine.speed');
  await expect.poll(status).toBe('Result in K/min');
  await part('add-panel').click();
  await line('engine.speed').last().waitFor();
  // Tests before this one took their time.
  await part('span').selectOption({ label: '5 min' });
  await part('live').click();
  const over = visit.page.locator('.chart:visible .u-over').last();
  const [from, to] = await visit.page.evaluate(() => {
    const ends = document.querySelector('[data-testid=ends]')?.textContent ?? '';
    return ends.split(' \u2013 ').map((time) => new Date(`${new Date().toDateString()} ${time}`).getTime());
  });
  const pointAt = async (time: number) => {
    const box = await over.boundingBox();
    if (!box) throw new Error('no chart');
    await over.hover({ position: { x: ((time - from) / (to - from)) * box.width, y: 20 } });
  };
  // In the middle of the five seconds without the engine.
  await pointAt(recent + 12_500);
  await expect.poll(() => part('gap-note').last().getAttribute('data-cause')).toBe('silent');
  await pointAt(recent + 7000);
  // 293.15 K times 1700 a minute; the ends of the time shown are whole seconds.
  await expect.poll(() => value('in [K]')).toMatch(/^(4[6-9]|5[0-2])\dk/);
  await visit.screenshot('expression-gap');
});

it('computes the past from the archive', async () => {
  await addChart('mean(engine.speed, 10) * 1 [min]');
  await part('add-panel').click();
  await line('mean').waitFor();
  await visit.page.keyboard.press('j');
  const middle = old + MINUTE / 2 - 1000;
  const zone = new Date(middle).getTimezoneOffset() * MINUTE;
  await part('moment-field').fill(new Date(middle - zone).toISOString().slice(0, 19));
  await part('moment-go').click();
  await expect.poll(() => part('past-note').last().getAttribute('data-state')).toBe('ready');
  // The last sample before the end is 6890; the mean of the last 10 s is 50 samples of 10 lower.
  await expect.poll(() => value('mean')).toMatch(/6[\s\u202f]?39\d/);
  await visit.screenshot('expression-past');
});
