import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
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
    { name: 'level', type: 'uint8', kind: 'event', label: 'Level', enum: LEVEL },
    { name: 'message', type: 'string', label: 'Message' },
    { name: 'thread', type: 'string', label: 'Thread' },
  ],
};
const RECORDS = 1000;
/** Two hours ago: the page shows the last minute. */
const BEGIN = Date.now() - 7_200_000;

const folder = temporaryFolder();
const rig = new Rig(() => Oasis.dac({}, '--archive', folder));
let node: PlainNode;
let visit: Visit;

function flush(first: number, count: number): void {
  const texts = (text: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => text(first + index));
  node.flush(
    'log',
    Array.from({ length: count }, (_, index) => BEGIN + first + index),
    [
      Uint8Array.from({ length: count }, (_, index) => ((first + index) % 500 === 3 ? 17 : 9)),
      texts((index) => (index === 3 ? 'Pump \u202e stopped\n  at pump.rs:7' : `step ${index}`)),
      texts((index) => (index % 2 === 0 ? 'main' : 'worker')),
    ],
  );
}

beforeAll(async () => {
  node = await PlainNode.start(rig.oasis.channel, 'plant-7', [{ name: 'log', schema: LOG, kind: 'event' }]);
  flush(0, RECORDS);
  visit = await rig.visit();
  await visit.page.keyboard.press('a');
  await part('kind-logs').locator('..').click();
  await part('add-panel').click();
});

afterAll(async () => {
  // A search that is canceled may still run when the next one begins, which then waits.
  expect(visit.complaints.filter((text) => !text.includes('429'))).toEqual([]);
  await visit.close();
  await node.stop();
});

const part = (testId: string) => visit.page.getByTestId(testId);
const records = () => part('log-record');

it('lists all records of all time, newest first, a page at a time', async () => {
  await expect.poll(() => records().count()).toBe(100);
  expect(await records().first().textContent()).toContain('step 999');
  // The list gets lower when it has been scrolled, and a click meanwhile hits something else.
  await part('logs-older').scrollIntoViewIfNeeded();
  await part('logs-newest').waitFor();
  await part('logs-older').click();
  await expect.poll(() => records().count()).toBe(200);
});

it('finds records by words, level and field', async () => {
  await part('logs-text').fill('pump');
  await expect.poll(() => records().count()).toBe(1);
  // Hidden characters are visible, and the lines of a traceback stay.
  expect(await records().first().locator('.log-message').textContent()).toBe(
    'Pump \\u{202e} stopped\n  at pump.rs:7',
  );
  expect(await part('logs-status').textContent()).toContain('1 found in');
  await part('logs-text').fill('');
  await part('logs-level').selectOption('ERROR');
  await expect.poll(() => records().count()).toBe(2);
  expect(await records().first().textContent()).toContain('ERROR');
  await part('logs-level').selectOption('');
  await part('logs-field').fill('thread');
  await part('logs-field').press('Enter');
  await expect.poll(() => part('logs').textContent()).toContain('A field is written NAME=VALUE');
  await part('logs-field').fill('message=step 42');
  await part('logs-field').press('Enter');
  await expect.poll(() => records().count()).toBe(1);
});

it('shows the records around one, and its moment on the charts', async () => {
  await part('log-context').click();
  await expect.poll(() => part('log-around').locator('li').count()).toBe(21);
  expect(await part('log-around').locator('[aria-current=true]').textContent()).toContain('step 42');
  await part('log-show').click();
  await expect.poll(() => part('live').getAttribute('aria-pressed')).not.toBe('true');
  await part('logs-field-chosen').click();
  await expect.poll(() => records().count()).toBeGreaterThanOrEqual(100);
});

it('follows new records', async () => {
  flush(RECORDS, 5);
  await expect.poll(() => records().first().textContent()).toContain('step 1004');
});

it('stops to follow while somebody reads older records, and goes on with a click', async () => {
  await part('log-list').evaluate((list) => list.scrollTo(0, 400));
  await part('logs-newest').waitFor();
  expect(await part('logs-follow').isChecked()).toBe(false);
  flush(RECORDS + 5, 5);
  await part('logs-newest').click();
  await expect.poll(() => records().first().textContent()).toContain('step 1009');
  expect(await part('logs-follow').isChecked()).toBe(true);
});
