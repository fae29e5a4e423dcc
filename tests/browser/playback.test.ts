import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const TANK = {
  name: 'Tank',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [{ name: 'level', type: 'real64', unit: 'm', min: 0, max: 3000 }],
};
const SAMPLES = 3000;
const PERIOD_MS = 200;

const folder = temporaryFolder();
const rig = new Rig(() => Oasis.dac({}, '--archive', folder));
let node: PlainNode;
let visit: Visit;
let start: number;

beforeAll(async () => {
  node = await PlainNode.start(rig.oasis.channel, 'plant-7', [{ name: 'tank', schema: TANK, hertz: 5 }]);
  start = Date.now() - SAMPLES * PERIOD_MS;
  for (let first = 0; first < SAMPLES; first += 500) {
    const times = Array.from({ length: 500 }, (_, index) => start + (first + index) * PERIOD_MS);
    // The level is the number of the sample.
    node.flush('tank', times, [Float64Array.from(times, (_, index) => first + index)]);
  }
});

beforeEach(async () => {
  visit = await rig.visit('#watch=plant-7/tank');
  await part('legend-value').first().waitFor();
  await part('span').selectOption('15000');
});

afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

afterAll(async () => {
  await node.stop();
});

const part = (testId: string) => visit.page.getByTestId(testId);
const text = (testId: string) => part(testId).first().textContent();
const number = async (testId: string) => Number((await text(testId))?.replace(/[^\d.]/g, ''));

/** Shows a time so many seconds after the first sample. */
async function goTo(seconds: number): Promise<void> {
  await visit.page.keyboard.press('j');
  const moment = start + seconds * 1000;
  const zone = new Date(moment).getTimezoneOffset() * 60_000;
  await part('moment-field').fill(new Date(moment - zone).toISOString().slice(0, 19));
  await part('moment-go').click();
  const shown = (seconds * 1000) / PERIOD_MS;
  await expect.poll(async () => Math.abs((await number('legend-value')) - shown)).toBeLessThan(100);
}

it('plays the past with chart, values and gauge in step, and stops where it is', async () => {
  await goTo(60);
  await part('playback-speed').selectOption('10');
  await visit.page.keyboard.press('k');
  expect(await part('playback').getAttribute('aria-pressed')).toBe('true');
  const before = await number('legend-value');
  await expect.poll(() => number('legend-value')).toBeGreaterThan(before + 100);
  await visit.page.keyboard.press('k');
  expect(await part('playback').getAttribute('aria-pressed')).toBe('false');
  const value = () =>
    visit.page.locator('[data-testid=metric][data-metric=level] [data-testid=value]').textContent();
  // The legend shows the mean of a column of the chart, which may have two samples.
  const isInStep = async () =>
    Math.abs(Number((await value())?.replace(/[^\d.]/g, '')) - (await number('legend-value'))) <= 1;
  await expect.poll(isInStep).toBe(true);
  // Playback is paused, and steps when asked to: 15 s in a hundred steps are less than a sample each.
  const ends = await text('ends');
  for (let press = 0; press < 10; press++) await visit.page.keyboard.press('.');
  await expect.poll(() => text('ends')).not.toBe(ends);
  await expect.poll(isInStep).toBe(true);
});

it('changes its speed with keys, plays backward in steps, and becomes live at the present', async () => {
  await goTo(300);
  await visit.page.keyboard.press('>');
  expect(await part('playback-speed').inputValue()).toBe('2');
  for (let press = 0; press < 20; press++) await visit.page.keyboard.press('>');
  expect(await part('playback-speed').inputValue()).toBe('1000');
  const before = await number('legend-value');
  for (let press = 0; press < 20; press++) await visit.page.keyboard.press(',');
  await expect.poll(() => number('legend-value')).toBeLessThan(before);
  await part('playback').click();
  await expect.poll(() => part('live').getAttribute('data-live')).toBe('true');
  expect(await part('playback').getAttribute('aria-pressed')).toBe('false');
});

it('plays what is live from the beginning of the time shown, and space stops it', async () => {
  await visit.page.keyboard.press('k');
  await expect.poll(() => part('live').getAttribute('data-live')).toBe('false');
  await visit.page.keyboard.press(' ');
  await expect.poll(() => part('playback').getAttribute('aria-pressed')).toBe('false');
  expect(await part('live').getAttribute('data-live')).toBe('false');
  await visit.page.keyboard.press(' ');
  await expect.poll(() => part('live').getAttribute('data-live')).toBe('true');
});
