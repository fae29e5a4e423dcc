import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode, vectors } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const BATTERY = {
  name: 'Battery',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [{ name: 'voltage', type: { vector: 'real64' }, unit: 'V', label: 'Cell voltage' }],
};
const CELLS = 24;

const rig = new Rig(() => Oasis.dac());
let node: PlainNode;
let visit: Visit;
let start: number;

beforeAll(async () => {
  node = await PlainNode.start(rig.oasis.channel, 'drone-7', [
    { name: 'battery', schema: BATTERY, hertz: 20 },
  ]);
  start = Date.now() - 45_000;
  for (const [first, dropped] of [
    [0, 0],
    [400, 40],
  ]) {
    const rows = Array.from({ length: 400 }, (_, index) => first + index);
    const cells = (row: number) =>
      Array.from(
        { length: CELLS },
        (_, cell) => 3.7 + 0.3 * Math.sin(row / 60 + cell / 4) - (cell === 11 ? 0.5 : 0),
      );
    node.flush(
      'battery',
      rows.map((row) => start + (row + dropped) * 50),
      [vectors(rows.map(cells))],
      dropped,
    );
  }
});

beforeEach(async () => {
  visit = await rig.visit('#watch=drone-7/battery', { viewport: { width: 1366, height: 768 } });
  // Tests before this one took their time.
  await part('span').selectOption({ label: '5 min' });
  await part('chart').first().waitFor();
  await part('open-add').click();
  await part('kind-heat').locator('..').click();
  await part('pick-battery-voltage').check();
  await part('add-panel').click();
  await expect.poll(() => part('heat-chart').getAttribute('data-rows')).toBe(String(CELLS));
});

afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

afterAll(() => node.stop());

const part = (testId: string): Locator => visit.page.getByTestId(testId);
const readout = () => part('heat-readout').textContent();

it('shows the elements of a vector over time, with the value under the pointer', async () => {
  await expect.poll(readout).toMatch(/least .*\u202fV \(11\), greatest 4(\.0\d*)?\u202fV \(\d+\)/);
  await expect.poll(() => part('gap-summary').textContent()).toContain('40 samples missing');
  await expect.poll(() => part('heat-scale').textContent()).toMatch(/V.*V/);
  await part('live').click();
  await visit.page.mouse.move(0, 0);
  const over = part('heat').locator('.u-over');
  const box = await over.boundingBox();
  const end = (name: string) => part('heat-chart').getAttribute(name).then(Number);
  const [from, to] = [await end('data-from'), await end('data-to')];
  if (!box) throw new Error('no chart');
  // The row of cell 11, in the middle of the second part.
  const x = (box.width * (start + 32_000 - from)) / (to - from);
  await over.hover({ position: { x, y: (box.height * 11.5) / CELLS } });
  await expect.poll(readout).toMatch(/ \u00b7 11: .*\u202fV \(min .*, max .*\)/);
  await part('heat-figure').selectOption('min');
  await expect.poll(() => part('heat-figure').inputValue()).toBe('min');
  await visit.screenshot('heat-map');
});

it('shows the past, and is saved as picture and table', async () => {
  await part('live').click();
  await visit.page.keyboard.press('-');
  await expect.poll(() => part('heat-chart').getAttribute('data-rows')).toBe(String(CELLS));
  const files = new Map<string, string>();
  visit.page.on('download', async (download) => {
    files.set(
      download.suggestedFilename().replace(/^.*\./, ''),
      await readFile(await download.path(), 'latin1'),
    );
  });
  await part('heat').click({ position: { x: 5, y: 5 } });
  await part('export-csv').click();
  await expect
    .poll(() => files.get('csv'))
    .toMatch(/^time,element,min \[V\],max \[V\],last \[V\]\r\n20.*,0,/);
  await part('export-picture').click();
  await expect.poll(() => files.get('svg')).toContain('<image');
});
