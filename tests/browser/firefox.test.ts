import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { NarrowProxy } from './harness/narrow_proxy.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

/** The main functions in Firefox; `OASIS_BROWSER=firefox` runs the other files in it. */

const GPS = {
  name: 'Gps',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    { name: 'latitude', type: 'real64', unit: 'deg' },
    { name: 'longitude', type: 'real64', unit: 'deg' },
  ],
};
const LOG = {
  name: 'OASIS::Program::LogProbe',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    {
      name: 'level',
      type: 'uint8',
      kind: 'event',
      enum: { name: 'LogLevel', values: [{ name: 'INFO', value: 9 }] },
    },
    { name: 'message', type: 'string' },
  ],
};
const RECORDS = 150;

const folder = temporaryFolder();
const rig = new Rig(
  () =>
    Oasis.up(
      ...['--name', 'plant-7', '--archive', folder],
      ...['--probe', 'processor@20', '--probe', 'memory@20', '--probe', 'scheduling@2'],
    ),
  { browser: 'firefox' },
);
let node: PlainNode;
let visit: Visit;

beforeAll(async () => {
  node = await PlainNode.start(rig.oasis.channel, 'drone', [
    { name: 'gps', schema: GPS, hertz: 10 },
    { name: 'log', schema: LOG, kind: 'event' },
  ]);
  const times = Array.from({ length: RECORDS }, (_, index) => Date.now() - 20_000 + index * 100);
  node.flush('gps', times, [
    Float64Array.from(times, (_, index) => 10 + index * 1e-5),
    Float64Array.from(times, (_, index) => 20 + index * 1e-5),
  ]);
  node.flush('log', times, [Uint8Array.from(times, () => 9), times.map((_, index) => `step ${index}`)]);
});

beforeEach(async () => {
  visit = await rig.visit('#watch=plant-7/processor,plant-7/memory');
  await visit.seesSamples('processor', 2);
});

afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

afterAll(async () => {
  await node.stop();
});

const part = (testId: string): Locator => visit.page.getByTestId(testId);
const press = (key: string) => visit.page.keyboard.press(key);
const chart = () => part('series').first();

/** Returns a fingerprint of the drawing. */
const drawing = () =>
  chart()
    .locator('canvas')
    .first()
    .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());

async function saves(click: () => Promise<unknown>): Promise<readonly [name: string, bytes: Buffer]> {
  const [download] = await Promise.all([visit.page.waitForEvent('download'), click()]);
  return [download.suggestedFilename(), await readFile(await download.path())];
}

it('draws live values, pauses, goes back in time, and returns to now', async () => {
  const before = await drawing();
  await expect.poll(drawing).not.toBe(before);
  await expect.poll(() => chart().getByTestId('legend-value').first().textContent()).toMatch(/%$/);
  expect(await chart().getByTestId('footer-missing').textContent()).toBe('0 missing');
  await visit.screenshot('firefox');
  await part('live').click();
  expect(await part('live').getAttribute('data-live')).toBe('false');
  const ends = await part('ends').textContent();
  await part('earlier').click();
  await expect.poll(() => part('ends').textContent()).not.toBe(ends);
  await visit.page.locator('input[type=range]').first().focus();
  await press('ArrowLeft');
  await part('live').click();
  expect(await part('live').getAttribute('data-live')).toBe('true');
  await visit.seesSamples('processor', 2);
});

it('zooms to a span that is drawn with the pointer, and saves the chart as picture', async () => {
  const box = await chart().locator('.u-over').boundingBox();
  if (!box) throw new Error('no chart');
  await visit.page.mouse.move(box.x + box.width * 0.5, box.y + 40);
  await visit.page.mouse.down();
  await visit.page.mouse.move(box.x + box.width * 0.75, box.y + 60, { steps: 4 });
  await visit.page.mouse.up();
  await expect.poll(() => part('span').inputValue().then(Number)).toBeLessThan(40_000);
  const pictures = new Map<string, number>();
  visit.page.on('download', async (download) => {
    const content = await readFile(await download.path());
    pictures.set(content.subarray(0, 4).toString('latin1'), content.length);
  });
  await part('export-picture').click();
  await expect.poll(() => [...pictures.keys()].sort()).toEqual(['<svg', '\x89PNG']);
  // Not an empty drawing.
  expect(pictures.get('\x89PNG')).toBeGreaterThan(4_000);
});

it('adds panels: an expression with completion, a map and a search of logs', async () => {
  await part('open-add').click();
  await part('kind-expression').locator('..').click();
  await part('expression').pressSequentially('memory.physical_memory_av');
  await expect.poll(() => part('suggestion').count()).toBe(1);
  await press('ArrowDown');
  await press('Enter');
  await part('expression').pressSequentially(' * 2');
  await expect.poll(() => part('expression-status').textContent()).toBe('Result in KiB');
  await part('add-panel').click();
  await expect.poll(() => part('legend-line').filter({ hasText: '* 2' }).count()).toBe(1);

  // All records, however long the tests before have taken.
  await part('span').selectOption('300000');
  await part('open-add').click();
  await part('kind-map').locator('..').click();
  await part('pick-gps-').first().check();
  await part('add-panel').click();
  await expect.poll(() => part('map-canvas').getAttribute('data-points').then(Number)).toBe(RECORDS);
  await expect.poll(() => part('map-place').first().textContent()).toContain('10.0014');

  await part('open-add').click();
  await part('kind-logs').locator('..').click();
  await part('add-panel').click();
  await part('logs-text').fill('step 77');
  await expect.poll(() => part('log-record').count()).toBe(1);
});

it('sends commands, and finds panels and instances by the palette', async () => {
  await visit.part('memory', 'hertz-preset-10').click();
  await expect.poll(() => visit.part('memory', 'hertz').textContent()).toBe('of 10 Hz set');
  await visit.part('memory', 'disable').click();
  await expect.poll(() => visit.part('memory', 'card-state').getAttribute('data-state')).toBe('disabled');
  await visit.part('memory', 'enable').click();
  await expect.poll(() => visit.part('memory', 'card-state').getAttribute('data-state')).toBe('live');
  await press('Control+k');
  await part('palette-field').fill('sched');
  const chosen = visit.page.locator('[role=option][aria-selected=true]');
  await expect.poll(() => chosen.textContent()).toContain('scheduling');
  await press('Enter');
  await visit.seesSamples('scheduling', 1);
});

it('saves a dashboard, opens it by its address, and takes a change back', async () => {
  await press('o');
  await part('layout-name').fill('firefox');
  await part('save-layout').click();
  await expect.poll(() => part('dashboard-name').textContent()).toBe('firefox');
  await press('Escape');
  await visit.page.goto(`${rig.oasis.url}/d/firefox`);
  await visit.seesSamples('processor', 1);
  const tabs = visit.page.locator('.dv-default-tab-content');
  const before = await tabs.count();
  await press('b');
  await part('dashboard-undo').click();
  await expect.poll(() => tabs.count()).toBe(before);
});

it('exports every sample of the time shown', async () => {
  await press('w');
  const [name, content] = await saves(() => part('export-start').click());
  expect(name).toMatch(/^plant-7-.*\.csv$/);
  expect(String(content)).toMatch(/^node,instance,time,time_ns,sequence,state,.*\r\nplant-7,/);
  await expect.poll(() => part('export-said').textContent()).toMatch(/Saved: .* samples/);
});

it('falls back to other doors if WebSockets and streams are refused', async () => {
  for (const [streams, name] of [
    [[], 'Server-sent events'],
    [['events', 'stream'], 'Long poll'],
  ] as const) {
    const proxy = await NarrowProxy.to(rig.oasis.url, { websocket: true, streams: [...streams] });
    const other = await Visit.to(rig.browser, proxy.url);
    await other.seesSamples('processor', 3);
    expect(await other.page.getByTestId('door').textContent()).toBe(name);
    expect(await other.part('processor', 'missing').textContent()).toBe('0');
    await other.close();
    await proxy.stop();
  }
});
