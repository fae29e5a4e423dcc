import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

/** One rule for the value at a time: the last sample at or before it, and none in a gap. */

const PUMP = {
  name: 'Pump',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [{ name: 'pressure', type: 'real64', unit: 'bar' }],
};
const PERIOD_MS = 100;
/** Samples before the silence that is over, after it, and after the missing ones. */
const PARTS = [200, 150, 50] as const;
const SILENCE_MS = 3000;
const MISSING = 20;
/** A time with all samples, however long the tests before have taken; milliseconds. */
const SPAN_MS = '300000';

const rig = new Rig(() => Oasis.dac());
let node: PlainNode;
let visit: Visit;
/** Milliseconds since 1970 by sample. */
const times: number[] = [];

beforeAll(async () => {
  const schema = { name: 'pump', schema: PUMP, hertz: 1000 / PERIOD_MS, kind: 'periodic' as const };
  node = await PlainNode.start(rig.oasis.channel, 'plant-7', [schema]);
  let at = Date.now() - 50_000;
  PARTS.forEach((count, part) => {
    if (part > 0) at += part === 1 ? SILENCE_MS : (MISSING + 1) * PERIOD_MS;
    const fresh = Array.from({ length: count }, (_, index) => at + index * PERIOD_MS);
    const values = Float64Array.from(fresh, (_, index) => times.length + index);
    node.flush('pump', fresh, [values], part === 2 ? MISSING : 0);
    times.push(...fresh);
    at = fresh[count - 1];
  });
});

beforeEach(async () => {
  visit = await rig.visit('#watch=plant-7/pump');
  await visit.part('pump', 'sequence').waitFor();
  await part('span').selectOption(SPAN_MS);
});

afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

afterAll(() => node.stop());

const part = (testId: string) => visit.page.getByTestId(testId);
const legend = () => part('legend-value').first().textContent();
const card = () => visit.part('pump', 'value').first().textContent();

/** The shown time, in milliseconds since 1970. */
function ends(): Promise<readonly number[]> {
  return visit.page.evaluate(() => {
    const shown = document.querySelector('[data-testid=ends]')?.textContent ?? '';
    return shown.split(' \u2013 ').map((time) => new Date(`${new Date().toDateString()} ${time}`).getTime());
  });
}

/** Puts the pointer on a time of the chart. */
async function pointAt(time: number): Promise<void> {
  const box = await visit.page.locator('.chart:visible .u-over').first().boundingBox();
  if (!box) throw new Error('no chart');
  const [from, to] = await ends();
  await visit.page.mouse.move(box.x + ((time - from) / (to - from)) * box.width, box.y + 20);
}

/** Shows a time, and pauses at its end. */
async function show(from: number, to: number): Promise<void> {
  await part('span').selectOption(SPAN_MS);
  await part('live').click();
  await pointAt(from);
  await visit.page.mouse.down();
  await pointAt(to);
  await visit.page.mouse.up();
  await visit.page.mouse.move(5, 5);
  await expect.poll(() => part('moment-note').getAttribute('data-state')).toBe('ready');
}

it('hatches a silence while it lasts, says since when, and has neither a value nor a rate', async () => {
  await expect.poll(() => visit.part('pump', 'rate').textContent()).toMatch(/^0/);
  // The legend keeps the last value, too, until the pointer is at the silence.
  await expect.poll(legend).toMatch(/^399/);
  // The card keeps the last value, and says that it is old.
  expect(await card()).toBe('399.000');
  expect(await part('metric-values').getAttribute('data-gap')).toBe('silent');
  await pointAt(Date.now() - 2000);
  await expect.poll(() => part('gap-note').textContent()).toMatch(/silent: .*since/);
});

it('shows the same sample in the legend and in the table of values, paused and under the pointer', async () => {
  await show(times[PARTS[0]], times[PARTS[0] + 100]);
  await expect.poll(legend).toMatch(/^\d+\sbar$/);
  // As many digits as the table has.
  const read = async () => Number((await legend())?.split(/\s/)[0]).toFixed(3);
  await expect.poll(async () => (await read()) === (await card())).toBe(true);
  await pointAt(times[PARTS[0] + 30] + PERIOD_MS / 2);
  await expect.poll(legend).toMatch(/^2(29|30|31)\sbar$/);
});

it('has a dash in a silence and where samples are missing, and says why', async () => {
  await show(times[0], times[PARTS[0] - 1] + SILENCE_MS / 2);
  for (const shown of [legend, card]) await expect.poll(shown).toBe('\u2013');
  expect(await part('legend-line').first().getAttribute('title')).toContain('no samples were taken');
  expect(await part('moment-note').textContent()).toContain('no samples were taken');
  await visit.page.keyboard.press('Space');
  await show(times[0], times[PARTS[0] + PARTS[1] - 1] + (MISSING * PERIOD_MS) / 2);
  for (const shown of [legend, card]) await expect.poll(shown).toBe('\u2013');
  expect(await part('legend-line').first().getAttribute('title')).toContain('ring was full');
});
