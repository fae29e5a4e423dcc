import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const AGO_MS = 60_000;

const TIDE = {
  name: 'Tide',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [{ name: 'level', type: 'real64', unit: 'm' }],
};

const rig = new Rig(() => Oasis.dac());
let node: PlainNode;
let visit: Visit;

beforeAll(async () => {
  node = await PlainNode.start(rig.oasis.channel, 'harbour', [{ name: 'tide', schema: TIDE }]);
  const now = Date.now();
  const times = Array.from({ length: 100 }, (_, index) => now - 10_000 + index * 100);
  // From well before the later samples to beyond the overlaid ones.
  const earlier = Array.from({ length: 300 }, (_, index) => now - 10_000 - AGO_MS + index * 100);
  // The range of values is that of the later samples, so that the overlay changes no axis.
  node.flush('tide', earlier, [Float64Array.from(earlier, () => 50)]);
  node.flush('tide', times, [Float64Array.from(times, (_, index) => index)]);
  visit = await rig.visit('#watch=harbour/tide');
});

afterAll(async () => {
  await node.stop();
});

it('overlays an earlier time on a chart, and removes it', async () => {
  const { page } = visit;
  const chart = page.getByTestId('series');
  const pixels = () =>
    chart
      .locator('canvas')
      .first()
      .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
  await expect.poll(() => chart.getByTestId('legend-value').textContent()).toMatch(/^99/);
  await page.getByTestId('span').selectOption('15000');
  await page.getByTestId('live').click();
  const without = await still(pixels);
  await page.getByTestId('compare').selectOption(String(AGO_MS));
  await expect.poll(pixels).not.toBe(without);
  const overlaid = await still(pixels);
  await page.getByTestId('compare').selectOption('0');
  await expect.poll(pixels).not.toBe(overlaid);
  expect(visit.complaints).toEqual([]);
});

it('overlays the time around any moment, which a link to the layout restores', async () => {
  const { page } = visit;
  const part = (id: string) => page.getByTestId(id);
  await part('compare').focus();
  await part('compare').selectOption('other');
  await part('moment-field').waitFor();
  const typed = await part('moment-field').inputValue();
  const hourBefore = new Date(new Date(`${typed}Z`).getTime() - 3_600_000).toISOString().slice(0, 19);
  await part('moment-field').fill(hourBefore);
  await visit.screenshot('moment-overlay');
  await part('moment-overlay').press('Enter');
  await expect.poll(() => part('moment').count()).toBe(0);
  const ago = await part('compare').inputValue();
  // The field shows whole seconds.
  expect(Math.abs(Number(ago) - 3_600_000)).toBeLessThan(1001);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.keyboard.press('Escape');
  await page.keyboard.press('s');
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('#view=');
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const other = await rig.visit(`/${new URL(link).hash}`);
  await expect.poll(() => other.page.getByTestId('compare').inputValue()).toBe(ago);
  expect(other.complaints).toEqual([]);
  await other.close();
  // A time that is not earlier is refused, and the overlay stays.
  await part('compare').selectOption('other');
  await part('moment-field').fill(
    new Date(new Date(`${typed}Z`).getTime() + 20_000).toISOString().slice(0, 19),
  );
  await part('moment-overlay').click();
  await expect.poll(() => part('notice').textContent()).toMatch(/earlier|future/);
  expect(await part('compare').inputValue()).toBe(ago);
  await part('compare').selectOption('0');
  expect(visit.complaints).toEqual([]);
});

it('says which of two times it means in the hour that comes twice', async () => {
  const summer = await rig.visit('', { timezoneId: 'Europe/Berlin' });
  const part = (id: string) => summer.page.getByTestId(id);
  await summer.page.keyboard.press('j');
  await part('moment-field').fill('2025-10-26T02:30:00');
  await expect
    .poll(() => part('moment-twice').locator('option').allTextContents())
    .toEqual(['first (UTC+02)', 'second (UTC+01)']);
  await part('moment-twice').selectOption('true');
  await summer.screenshot('moment-twice');
  await part('moment-go').click();
  await expect.poll(() => part('ends').textContent()).toContain('02:30:30 +01');
  await summer.page.keyboard.press('j');
  await expect.poll(() => part('moment-twice').inputValue()).toBe('true');
  await part('moment-field').fill('2025-03-30T02:30:00');
  await expect.poll(() => part('moment-never').count()).toBe(1);
  expect(summer.complaints).toEqual([]);
  await summer.close();
});

/** Reads a value until it stays the same. */
async function still(read: () => Promise<string>): Promise<string> {
  const seen: string[] = [];
  await expect
    .poll(async () => {
      seen.unshift(await read());
      return seen.length >= 5 && seen.slice(0, 5).every((picture) => picture === seen[0]);
    })
    .toBe(true);
  return seen[0];
}
