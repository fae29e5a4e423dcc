import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const PUMP = {
  name: 'Plant::Pump',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [{ name: 'temperature', type: 'real64', unit: 'Cel', alarm: { above: 90 } }],
};
const LOG = {
  name: 'OASIS::Program::LogProbe',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    { name: 'level', type: 'uint8', kind: 'event' },
    { name: 'message', type: 'string' },
  ],
};
const HOSTILE = '<img src=x onerror=alert(1)> \u202e valve';

const rig = new Rig(() => Oasis.dac());
let nodes: PlainNode[];
let visit: Visit;

beforeAll(async () => {
  const start = (name: string) =>
    PlainNode.start(rig.oasis.channel, name, [
      { name: 'pump', schema: PUMP },
      { name: 'log', schema: LOG, kind: 'event' },
    ]);
  nodes = await Promise.all([start('plant-7'), start('plant-8')]);
  const now = Date.now();
  const times = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => now - from + index * 500);
  const pump = (from: number, count: number, value: number, dropped = 0) =>
    nodes[0].flush('pump', times(from, count), [new Float64Array(count).fill(value)], dropped);
  pump(50_000, 20, 70);
  pump(40_000, 10, 95);
  pump(20_000, 40, 70, 30);
  // The middle record is of that time; the others are of minutes before, and of another node.
  nodes[0].flush(
    'log',
    [now - 300_000, now - 34_000],
    [Uint8Array.of(17, 17), ['long ago', `${HOSTILE} failed`]],
  );
  nodes[1].flush('log', [now - 34_000], [Uint8Array.of(17), ['of another node']]);
  visit = await rig.visit('/#watch=plant-7/pump', { viewport: { width: 1400, height: 844 } });
});

afterAll(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
  await Promise.all(nodes.map((node) => node.stop()));
});

const part = (id: string) => visit.page.getByTestId(id);

/** The place of a share of the time shown on the chart. */
async function at(share: number): Promise<readonly [number, number]> {
  const box = await part('chart').first().locator('.u-over').boundingBox();
  if (!box) throw new Error('no chart');
  return [box.x + box.width * share, box.y + box.height / 2];
}

async function explains(): Promise<void> {
  await expect.poll(() => part('gap-causes').textContent()).toMatch(/30 samples missing/);
  await expect.poll(() => part('gap-log').textContent()).toContain('failed');
  expect(await part('gap-log').textContent()).not.toMatch(/long ago|another node/);
  await expect.poll(() => part('gap-alarms').textContent()).toMatch(/Raised: .+ of pump/);
}

it('explains a gap that is clicked, with the log of its node and the alarms of that time', async () => {
  await expect.poll(() => part('gap').count()).toBe(1);
  // However long the page has taken, the gap is still shown.
  await part('span').selectOption('300000');
  await part('live').click();
  let share = 0.3;
  while (share < 0.98 && (await part('gap-note').count()) === 0) {
    share += 0.01;
    await visit.page.mouse.move(...(await at(share)));
    await visit.page.evaluate(() => new Promise(requestAnimationFrame));
  }
  await visit.page.mouse.click(...(await at(share)));
  await explains();
  await visit.screenshot('gap-dialog');
  const before = await part('ends').textContent();
  await part('gap-show').click();
  await expect.poll(() => part('gap-dialog').count()).toBe(0);
  await expect.poll(() => part('ends').textContent()).not.toBe(before);
});

it('explains a gap of the list by keys', async () => {
  await part('gap-explain').first().focus();
  await visit.page.keyboard.press('Enter');
  await explains();
  await visit.page.keyboard.press('Escape');
  await expect.poll(() => part('gap-dialog').count()).toBe(0);
});

it('opens nothing where there is no gap', async () => {
  // The gap is the middle half of what is shown.
  await visit.page.mouse.click(...(await at(0.1)));
  expect(await part('gap-dialog').count()).toBe(0);
});

it('writes a note about a span that is drawn with Shift', async () => {
  const { mouse, keyboard } = visit.page;
  await keyboard.down('Shift');
  await mouse.move(...(await at(0.05)));
  await mouse.down();
  await mouse.move(...(await at(0.15)), { steps: 4 });
  await mouse.up();
  await keyboard.up('Shift');
  await expect.poll(() => part('note-time').textContent()).toContain('\u2013');
  await part('note-text').fill(HOSTILE);
  await visit.screenshot('note-drawn');
  await part('note-add').click();
  await expect.poll(() => part('note').count()).toBe(0);
  await visit.page.keyboard.press('n');
  await expect.poll(() => part('note-line').count()).toBe(1);
  expect(await part('note-line').textContent()).toContain('\u2013');
  // The next note is one of a moment again.
  expect(await part('note-time').textContent()).not.toContain('\u2013');
  await visit.page.keyboard.press('Escape');
});
