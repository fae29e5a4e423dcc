import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const COUNTER = {
  name: 'Counter',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [{ name: 'count', type: 'uint64' }],
};
const SAMPLES = 1000;
const FIRST_COUNT = 9_007_199_254_740_993n;

const rig = new Rig(() => Oasis.dac());
let node: PlainNode;
let visit: Visit;

beforeAll(async () => {
  node = await PlainNode.start(rig.oasis.channel, 'plant-7', [{ name: 'pump "3"', schema: COUNTER }]);
  const start = Date.now() - 20_000;
  const times = Array.from({ length: SAMPLES }, (_, index) => start + index * 10);
  const counts = BigUint64Array.from(times, (_, index) => FIRST_COUNT + BigInt(index));
  node.flush('pump "3"', times.slice(0, 500), [counts.slice(0, 500)]);
  node.flush('pump "3"', times.slice(500), [counts.slice(500)], 7);
});

beforeEach(async () => {
  visit = await rig.visit('#watch=plant-7/pump%20%223%22');
  await visit.page.getByTestId('sequence').first().waitFor();
  // All samples, however long the tests before have taken.
  await visit.page.getByTestId('span').selectOption('300000');
  await visit.page.keyboard.press('w');
  await part('sample-export').waitFor();
});

afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

afterAll(() => node.stop());

const part = (testId: string) => visit.page.getByTestId(testId);

async function saved(): Promise<{ readonly name: string; readonly lines: string[] }> {
  const [download] = await Promise.all([visit.page.waitForEvent('download'), part('export-start').click()]);
  const text = await readFile(await download.path(), 'utf8');
  return { name: download.suggestedFilename(), lines: text.trimEnd().split(/\r?\n/) };
}

it('saves every sample of the time shown as CSV, and says how many are missing', async () => {
  const { name, lines } = await saved();
  expect(name).toMatch(/^plant-7-pump-3-.*\.csv$/);
  expect(lines[0]).toBe('node,instance,time,time_ns,sequence,state,count');
  expect(lines.length).toBe(1 + SAMPLES);
  expect(lines[1]).toMatch(/^plant-7,"pump ""3""",\d{4}-.*Z,\d{19},1,0,9007199254740993$/);
  expect(lines.at(-1)).toMatch(/,1007,0,9007199254741992$/);
  await expect.poll(() => part('export-said').textContent()).toMatch(/1.000 samples.*7 \(ring_full\)/);
});

it('saves JSON lines with exact integers, and names the command for other formats', async () => {
  await part('export-format').selectOption('jsonl');
  const { name, lines } = await saved();
  expect(name).toMatch(/\.jsonl$/);
  expect(lines.length).toBe(SAMPLES);
  expect(lines[0]).toContain('"metrics":{"count":9007199254740993}');
  expect(JSON.parse(lines[0])).toMatchObject({
    node: 'plant-7',
    instance: 'pump "3"',
    sequence: 1,
    state: 0,
  });
  expect(await part('export-command').textContent()).toMatch(
    /^oasis export (--archive \S+ )?'plant-7\/pump "3"' --from .* --format jsonl/,
  );
});

it('saves the MCAP file that the DAC writes', async () => {
  await part('export-format').selectOption('mcap');
  const [download] = await Promise.all([visit.page.waitForEvent('download'), part('export-start').click()]);
  expect(download.suggestedFilename()).toMatch(/^plant-7-pump-3-.*\.mcap$/);
  const file = await readFile(await download.path());
  const magic = Buffer.from('\x89MCAP0\r\n', 'latin1');
  expect(file.subarray(0, 8).equals(magic) && file.subarray(-8).equals(magic)).toBe(true);
  await expect
    .poll(() => part('export-said').textContent())
    .toMatch(/^Saved: 1.000 samples, [\d.]+ KiB; missing: 7 \(\w+\)$/);
  expect(await part('export-command').textContent()).toMatch(/ --format mcap -o samples\.mcap$/);
});

it.each(['arrow', 'parquet'])(
  'says how many samples a file of %s has, and how many are missing',
  async (format) => {
    await part('export-format').selectOption(format);
    await part('export-start').click();
    // A DAC without Arrow says so.
    await expect
      .poll(() => part('export-said').textContent())
      .toMatch(/^Saved: 1.000 samples, [\d.]+ KiB; missing: 7 \(\w+\)$|Arrow/);
    visit.complaints.length = 0;
  },
);

it('saves nothing of a time without samples, and says what the DAC refuses', async () => {
  await part('dialog-close').click();
  await visit.page.keyboard.press('j');
  await part('moment-field').fill('2020-01-01T00:00:00');
  await part('moment-go').click();
  await visit.page.keyboard.press('w');
  await part('export-start').click();
  await expect.poll(() => part('export-said').textContent()).toContain('no sample');
  for (const [format, said] of [
    // A DAC with Arrow has no samples of that time either.
    ['arrow', /Arrow|no sample/],
    ['parquet', /Arrow|no sample/],
    ['mcap', /no sample/],
  ] as const) {
    await part('export-format').selectOption(format);
    await part('export-start').click();
    await expect.poll(() => part('export-said').textContent()).toMatch(said);
  }
  visit.complaints.length = 0;
});
