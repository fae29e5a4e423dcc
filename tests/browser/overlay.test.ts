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
