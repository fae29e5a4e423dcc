import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const NODES = 50;
const EACH = 10;
const SCHEMA = {
  name: 'Crowd::Load',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [{ name: 'load', type: 'real64', unit: '%' }],
};

const rig = new Rig(() => Oasis.dac());
let nodes: PlainNode[];
let visit: Visit;

beforeAll(async () => {
  const instances = Array.from({ length: EACH }, (_, index) => ({
    name: `load/${index}`,
    schema: SCHEMA,
    hertz: 1,
  }));
  nodes = await Promise.all(
    Array.from({ length: NODES }, (_, index) =>
      PlainNode.start(rig.oasis.channel, `node-${String(index).padStart(2, '0')}`, instances),
    ),
  );
  for (const node of nodes)
    for (const { name } of instances) node.flush(name, [Date.now()], [Float64Array.of(50)]);
  visit = await rig.visit();
});

afterAll(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
  await Promise.all(nodes.map((node) => node.stop()));
});

const part = (testId: string) => visit.page.getByTestId(testId);

it('draws only the visible ones of 500 instances', async () => {
  await expect.poll(() => part('tree-count').textContent()).toMatch(/of 500 watched$/);
  expect(await part('instance').count()).toBeLessThan(60);
  await part('nodes').evaluate((list) => list.scrollTo(0, list.scrollHeight));
  await expect.poll(() => part('node-name').last().textContent()).toBe('node-49');
});

it('finds an instance by a few letters with the keyboard', async () => {
  await visit.page.keyboard.press('/');
  await visit.page.keyboard.type('node-3 load/7');
  await expect.poll(() => part('instance').count()).toBe(10);
  expect(await part('node-name').allTextContents()).toContain('node-37');
  await part('filter').fill('node-37 load/7');
  await expect.poll(() => part('instance').count()).toBe(1);
  await part('instance').press('Enter');
  await expect.poll(() => visit.card('load/7').count()).toBe(1);
  await part('filter').fill('');
  await expect.poll(() => part('instance').count()).toBeGreaterThan(5);
});

it('sends a command to all watched instances, and shows results and the history', async () => {
  await visit.page.keyboard.press('Escape');
  await part('open-control').click();
  await part('control').waitFor();
  await visit.page.getByRole('heading', { name: 'Command history' }).waitFor();
  const wanted = await part('control-status').count();
  await part('control-hertz').fill('9999');
  await part('control-set').click();
  expect(await part('control-hertz').getAttribute('aria-invalid')).toBe('true');
  await part('control-hertz').fill('2');
  await part('control-set').click();
  await expect
    .poll(() => visit.page.locator('[data-testid=control-status][data-status=done]').count())
    .toBe(wanted);
  await expect.poll(() => part('journal-line').count()).toBe(wanted);
  expect(await part('journal-line').first().textContent()).toMatch(
    /websocket 127\.0\.0\.1.*hertz 2 Hz: load\/\d on node-\d\d done/,
  );
  await part('dialog-close').click();
});
