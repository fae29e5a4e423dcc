import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const OVEN = {
  name: 'Oven',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    { name: 'temperature', type: 'real64', unit: 'Cel' },
    { name: 'pressure', type: 'real64', unit: 'Pa' },
    { name: 'program', type: 'string' },
  ],
};

const rig = new Rig(() => Oasis.dac());
let node: PlainNode;
let visit: Visit;

beforeAll(async () => {
  node = await PlainNode.start(rig.oasis.channel, 'plant-7', [
    { name: 'oven', schema: OVEN, kind: 'on-change' },
    { name: 'pushed', schema: OVEN },
  ]);
  visit = await rig.visit('#watch=plant-7/oven,plant-7/pushed');
});

afterAll(async () => {
  await node.stop();
});

const part = (testId: string) => visit.part('oven', testId);

/** The received commands without their numbers. */
const receivedCommands = () => node.commands.map(({ op, id, uuid, ...command }) => command);

it('sets and removes the deadband of a metric of a probe on change', async () => {
  await part('deadband-metric').waitFor();
  expect(await part('deadband-metric').locator('option').allTextContents()).toEqual([
    'temperature',
    'pressure',
  ]);
  await part('deadband-metric').selectOption('pressure');
  await part('deadband-value').fill('-1');
  await part('deadband-set').click();
  await expect.poll(() => part('command-status').textContent()).toContain('a deadband of 0 or more');
  await part('deadband-value').fill('2.5');
  await part('deadband-set').click();
  await expect
    .poll(() => part('command-status').textContent())
    .toMatch(/^Deadband of pressure: done \d\d:\d\d:\d\d$/);
  await part('deadband-metric').selectOption('temperature');
  await part('deadband-value').fill('');
  await part('deadband-set').click();
  await expect.poll(() => part('command-status').textContent()).toContain('Deadband of temperature: done');
  expect(receivedCommands()).toEqual([
    { instance: 'oven', command: 'deadband', metric: 'pressure', deadband: 2.5 },
    { instance: 'oven', command: 'deadband', metric: 'temperature' },
  ]);
  expect(visit.complaints).toEqual([]);
});

it('offers no deadband for other probes', async () => {
  await visit.page.locator('.dv-default-tab-content').getByText('pushed', { exact: true }).click();
  await visit.part('pushed', 'disable').waitFor();
  expect(await visit.part('pushed', 'deadband-set').count()).toBe(0);
});
