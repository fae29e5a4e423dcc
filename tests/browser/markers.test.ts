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
  metrics: [{ name: 'temperature', type: 'real64', unit: 'Cel' }],
};
const LOG = {
  name: 'OASIS::Program::LogProbe',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    { name: 'level', type: 'uint8', kind: 'event' },
    { name: 'target', type: 'string' },
    { name: 'message', type: 'string' },
  ],
};
const ERROR = 17;
const WARN = 13;
const INFO = 9;

const rig = new Rig(() => Oasis.dac());
const nodes: PlainNode[] = [];
let visit: Visit;

/** A node with a pump and a log: one record of each severity, ten seconds apart. */
async function startNode(name: string, message: string): Promise<void> {
  const node = await PlainNode.start(rig.oasis.channel, name, [
    { name: 'pump', schema: PUMP },
    { name: 'log', schema: LOG, kind: 'event' },
  ]);
  nodes.push(node);
  const now = Date.now();
  const times = Array.from({ length: 100 }, (_, index) => now - 50_000 + index * 500);
  node.flush('pump', times, [Float64Array.from(times, () => 20)]);
  node.flush(
    'log',
    [now - 40_000, now - 30_000, now - 20_000],
    [
      Uint8Array.of(ERROR, WARN, INFO),
      ['plant', 'plant', 'plant'],
      [`${message} failed`, `${message} slow`, `${message} done`],
    ],
  );
}

beforeAll(async () => {
  await startNode('plant-7', 'valve \u202e3');
  await startNode('plant-8', 'fan');
  visit = await rig.visit('#watch=plant-7/pump');
  await stand();
});

afterAll(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
  for (const node of nodes) await node.stop();
});

const part = (testId: string) => visit.page.getByTestId(testId);

/** Pauses with the samples on the screen, however long the tests take. */
async function stand(): Promise<void> {
  await part('legend-value').first().waitFor();
  await part('span').selectOption('300000');
  await part('live').click();
}

/** Returns everything that the pointer finds on its way over the chart. */
async function found(): Promise<string> {
  const over = part('series').first().locator('.u-over');
  await over.hover();
  const seen = await over.evaluate(async (element) => {
    const { left, top, width } = element.getBoundingClientRect();
    const texts = new Set<string>();
    // A move for each hundredth of the time shown, without the way through the browser for each.
    for (let share = 0.3; share < 1; share += 0.01) {
      const place = { clientX: left + width * share, clientY: top + 40, bubbles: true };
      element.dispatchEvent(new MouseEvent('mousemove', place));
      await new Promise(requestAnimationFrame);
      await new Promise((resolve) => setTimeout(resolve));
      for (const note of document.querySelectorAll('[data-testid=marker-note]'))
        texts.add(note.textContent ?? '');
    }
    return [...texts];
  });
  return seen.join('\n');
}

it('marks no log records until somebody wants it, and reads no log for it', async () => {
  expect(await part('markers').inputValue()).toBe('off');
  expect(await found()).toBe('');
});

it('marks the records of the node of a chart from a severity on', async () => {
  await part('markers').selectOption('warn');
  await expect.poll(found).toMatch(/ERROR log: valve \\u\{202e\}3 failed/);
  const seen = await found();
  expect(seen).toContain('WARN log: valve');
  expect(seen).not.toContain('done');
  expect(seen).not.toContain('fan');
  await visit.screenshot('markers');
  await part('markers').selectOption('error');
  await expect.poll(found).not.toContain('WARN');
});

it('keeps the choice over a reload, and drops the marks when it is taken back', async () => {
  await visit.page.reload();
  await stand();
  await expect.poll(found).toContain('failed');
  await part('markers').selectOption('off');
  await expect.poll(found).toBe('');
});
