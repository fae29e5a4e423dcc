import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

/** As many instances as a DAC takes. */
const NODES = 20;
const EACH = 1000;

const SCHEMA = {
  name: 'Large::Load',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [{ name: 'load', type: 'real64', unit: '%' }],
};
const INSTANCES = Array.from({ length: EACH }, (_, index) => ({
  name: `load/${index}`,
  schema: SCHEMA,
  hertz: 1,
}));

const rig = new Rig(() => Oasis.dac());
const nodes: PlainNode[] = [];
let visit: Visit;

const nameOf = (index: number) => `node-${String(index).padStart(2, '0')}`;

beforeAll(async () => {
  for (let index = 0; index < NODES; index++)
    nodes.push(await PlainNode.start(rig.oasis.channel, nameOf(index), INSTANCES));
  for (const node of nodes) node.flush('load/7', [Date.now()], [Float64Array.of(50)]);
});

afterAll(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
  await Promise.all(nodes.map((node) => node.stop()));
});

const part = (testId: string) => visit.page.getByTestId(testId);

interface Busy {
  tasks: number[];
}

it('lists 20,000 instances', async () => {
  visit = await rig.visit();
  await visit.page.evaluate(() => {
    const busy = window as unknown as Busy;
    busy.tasks = [];
    const note = (list: PerformanceObserverEntryList) =>
      busy.tasks.push(...list.getEntries().map((entry) => entry.duration));
    new PerformanceObserver(note).observe({ type: 'longtask', buffered: true });
  });
  const begun = Date.now();
  await expect.poll(() => part('tree-count').textContent(), { interval: 20 }).toMatch(/of 20,?000 watched$/);
  console.log(`listed after ${Date.now() - begun} ms`);
  expect(await part('instance').count()).toBeLessThan(60);
  await visit.screenshot('large-registry');
});

it('finds one of them, and shows its samples', async () => {
  await part('filter').fill('node-13 load/7');
  await expect.poll(() => part('instance').first().getAttribute('data-node')).toBe('node-13');
  await part('instance').first().press('Enter');
  await expect.poll(() => visit.card('load/7').textContent()).toContain('50');
  await part('filter').fill('');
  await part('nodes').evaluate((list) => list.scrollTo(0, list.scrollHeight));
  await expect.poll(() => part('instance').last().getAttribute('data-node')).toBe('node-19');
});

it('stays responsive while a node comes and goes', async () => {
  await part('filter').fill('node-05');
  await part('nodes').evaluate((list) => list.scrollTo(0, 0));
  const state = () => part('node-state').first().textContent();
  await expect.poll(state).toBe('Online');
  for (let round = 0; round < 3; round++) {
    await nodes[5].stop();
    await expect.poll(state).toBe('Offline');
    nodes[5] = await PlainNode.start(rig.oasis.channel, nameOf(5), INSTANCES);
    await expect.poll(state).toBe('Online');
  }
  const tasks = await visit.page.evaluate(() => (window as unknown as Busy).tasks);
  console.log(`tasks over 50 ms: ${tasks.map(Math.round).join(', ') || 'none'}`);
  await visit.screenshot('large-registry-filtered');
});
