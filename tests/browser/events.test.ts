import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const LEVEL = {
  name: 'LogLevel',
  values: [
    { name: 'INFO', value: 9 },
    { name: 'ERROR', value: 17 },
  ],
};
const LOG = {
  name: 'OASIS::Program::LogProbe',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    { name: 'level', type: 'uint8', kind: 'event', label: 'Level', enum: LEVEL, alarm: { values: [17] } },
    { name: 'target', type: 'string', label: 'Target' },
    { name: 'message', type: 'string', label: 'Message' },
    { name: 'file', type: 'string', label: 'File' },
    { name: 'line', type: 'real64', label: 'Line' },
    { name: 'thread', type: 'string', label: 'Thread' },
  ],
};
/** More than a list shows. */
const RECORDS = 700;
const TRACEBACK = 'Traceback (most recent call last):\n  File "engine.py", line 12\nValueError: no fuel';

const rig = new Rig(() => Oasis.dacWithoutRules());
let node: PlainNode;
let visit: Visit;

beforeAll(async () => {
  node = await PlainNode.start(rig.oasis.channel, 'plant-7', [{ name: 'log', schema: LOG, kind: 'event' }]);
  // Well before the page is opened: what ended within a second before that is news.
  const newest = Date.now() - 10_000;
  const texts = (text: (index: number) => string) =>
    Array.from({ length: RECORDS }, (_, index) => text(index));
  node.flush(
    'log',
    Array.from({ length: RECORDS }, (_, index) => newest - RECORDS + index),
    [
      Uint8Array.from({ length: RECORDS }, (_, index) => (index === 3 || index === RECORDS - 1 ? 17 : 9)),
      texts(() => 'plant.engine'),
      texts((index) => (index === RECORDS - 1 ? TRACEBACK : `step ${index}`)),
      texts((index) => (index === RECORDS - 1 ? 'engine.py' : '')),
      Float64Array.from({ length: RECORDS }, (_, index) => (index === RECORDS - 1 ? 12 : 0)),
      texts(() => 'main'),
    ],
  );
  visit = await rig.visit('#watch=plant-7/log');
});

afterAll(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
  await node.stop();
});

const part = (testId: string) => visit.page.getByTestId(testId);

it('searches all records that the page has, by the words that it shows', async () => {
  await expect.poll(() => part('event').count()).toBe(300);
  await part('events').getByRole('searchbox').fill('error');
  await expect.poll(() => part('event').count()).toBe(2);
  expect(await part('events-searched').textContent()).toBe('2 found in the newest 700 of the time shown');
  // The fourth of 700 records, far before those of the list.
  await part('events').getByRole('searchbox').fill('STEP error');
  await expect.poll(() => part('event').allTextContents()).toEqual([expect.stringContaining('step 3')]);
  await part('events').getByRole('searchbox').fill('step');
  await expect
    .poll(() => part('events-searched').textContent())
    .toBe('The newest 300 found in the newest 700 of the time shown');
  await part('events').getByRole('searchbox').fill('');
  await expect.poll(() => part('events-searched').count()).toBe(0);
});

it('keeps the lines of a traceback, and breaks no column into letters', async () => {
  const text = part('event').first().locator('.event-text');
  for (const width of [380, 1366]) {
    await visit.page.setViewportSize({ width, height: 800 });
    await expect
      .poll(() =>
        text.evaluate((element) => {
          const line = Number.parseFloat(getComputedStyle(element).lineHeight);
          return Math.round(element.getBoundingClientRect().height / line);
        }),
      )
      .toBe(3);
  }
  expect(await text.textContent()).toBe(TRACEBACK);
  // Fields for the origin of a record have its name; empty ones are left out.
  expect(await part('event').first().locator('.event-detail').allTextContents()).toEqual([
    'Target plant.engine',
    'File engine.py',
    'Line 12.0000',
    'Thread main',
  ]);
  expect(await part('event').nth(1).locator('.event-detail').allTextContents()).toEqual([
    'Target plant.engine',
    'Thread main',
  ]);
});

it('raises no alarms for records from before the page was opened', async () => {
  expect(await part('alarm-count').count()).toBe(0);
  node.flush(
    'log',
    [Date.now()],
    [Uint8Array.of(17), ['plant'], ['fire'], [''], Float64Array.of(0), ['main']],
  );
  await expect.poll(() => part('alarm-count').textContent()).toBe('1');
});
