import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const ENGINE = {
  name: 'Engine',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [{ name: 'vibration', type: 'real64', unit: 'm/s2' }],
};
const PERIOD_MS = 20;
/** Samples before the silence, after it, and after the stall. */
const PARTS = [200, 100, 100];
const SILENCE_MS = 1660;
const STALL_MS = 300;

const rig = new Rig(() => Oasis.dac());
let node: PlainNode;
/** Start of the first sample, and of the silence. */
let [start, silence] = [0, 0];

beforeAll(async () => {
  node = await PlainNode.start(rig.oasis.channel, 'drone-1', [{ name: 'engine', schema: ENGINE }]);
  const length = PARTS.reduce((sum, count) => sum + count, 0) * PERIOD_MS + SILENCE_MS + STALL_MS;
  start = Date.now() - length;
  silence = start + (PARTS[0] - 1) * PERIOD_MS;
  let at = start;
  PARTS.forEach((count, part) => {
    if (part > 0) at += part === 1 ? SILENCE_MS : STALL_MS;
    const times = Array.from({ length: count }, (_, index) => at + index * PERIOD_MS);
    // High and low values in each column: bars, as of a vibration.
    node.flush('engine', times, [Float64Array.from(times, (_, index) => (index % 2 === 0 ? 1 : -1))]);
    at = times[count - 1];
  });
});

afterAll(() => node.stop());

it('ends the line of a pushed probe where the chart is hatched and the list has an entry, and nowhere else', async () => {
  for (const deviceScaleFactor of [1, 2]) {
    const visit = await rig.visit('#watch=drone-1/engine', {
      viewport: { width: 1366, height: 768 },
      deviceScaleFactor,
    });
    const gaps = visit.part('engine', 'gap');
    await expect.poll(() => gaps.count()).toBe(1);
    expect(await gaps.getAttribute('data-cause')).toBe('silent');
    expect(await visit.part('engine', 'missing').textContent()).toBe('0');
    await visit.page.getByTestId('live').click();
    const over = visit.page.locator('.chart:visible .u-over');
    const box = await over.boundingBox();
    if (!box) throw new Error('no chart');
    // Returns the position of the pointer at a time: the chart shows a minute.
    const [from, to] = await visit.page.evaluate(() => {
      const ends = document.querySelector('[data-testid=ends]')?.textContent ?? '';
      return ends.split(' \u2013 ').map((time) => new Date(`${new Date().toDateString()} ${time}`).getTime());
    });
    const x = ((silence + SILENCE_MS / 2 - from) / (to - from)) * box.width;
    await over.hover({ position: { x, y: 20 } });
    await expect.poll(() => visit.page.getByTestId('gap-note').getAttribute('data-cause')).toBe('silent');
    expect(await visit.page.getByTestId('gap-note').textContent()).toContain('none are missing');
    expect(visit.complaints).toEqual([]);
    await visit.close();
  }
});
