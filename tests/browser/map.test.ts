import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const GPS = {
  name: 'Gps',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    { name: 'latitude', type: 'real64', unit: 'deg' },
    { name: 'longitude', type: 'real64', unit: 'deg' },
    { name: 'heading', type: 'real64', unit: 'deg' },
    { name: 'speed', type: 'real64', unit: 'm/s' },
  ],
};
const COUNT = 400;
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const folder = temporaryFolder();
const rig = new Rig(() => {
  const config = join(folder, 'oasis.toml');
  writeFileSync(config, '[doors]\ntile_origins = ["https://tile.example.org"]\n');
  return Oasis.dac({}, '--config', config);
});
const nodes: PlainNode[] = [];
let visit: Visit;

/** Starts a drone that has flown to the east for 40 s at 10 Hz, beginning at a longitude; 20 samples are missing. */
async function fly(name: string, from: number): Promise<void> {
  const node = await PlainNode.start(rig.oasis.channel, name, [{ name: 'gps', schema: GPS, hertz: 10 }]);
  const start = Date.now() - 45_000;
  for (const [first, dropped] of [
    [0, 0],
    [COUNT / 2, 20],
  ]) {
    const rows = Array.from({ length: COUNT / 2 }, (_, index) => first + index);
    const longitudes = rows.map((row) => ((from + row * 1e-5 + 540) % 360) - 180);
    node.flush(
      'gps',
      rows.map((row) => start + row * 100 + dropped * 100),
      [
        Float64Array.from(rows, (row) => 10 + row * 1e-6),
        Float64Array.from(longitudes),
        Float64Array.from(rows, () => 84),
        Float64Array.from(rows, (row) => row / 10),
      ],
      dropped,
    );
  }
  nodes.push(node);
}

beforeAll(async () => {
  await fly('drone-1', 179.998);
  await fly('drone-2', 179.999);
});

beforeEach(async () => {
  visit = await rig.visit('#watch=drone-1/gps', { viewport: { width: 1366, height: 768 } });
  // Tests before this one took their time.
  await part('span').selectOption({ label: '5 min' });
  await part('map-canvas').first().waitFor();
});

afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
});

const part = (testId: string): Locator => visit.page.getByTestId(testId);
const map = () => part('map-canvas').last();
const scale = async () => Number(await map().getAttribute('data-scale'));

/** Adds a map of both drones. */
async function addBoth(): Promise<void> {
  await part('open-add').click();
  await part('kind-map').locator('..').click();
  await part('pick-gps-').first().check();
  await part('pick-gps-').last().check();
  await part('add-panel').click();
  await expect.poll(() => part('map-place').count()).toBe(2);
}

it('opens for an instance with latitude and longitude, and shows several in one piece over the antimeridian', async () => {
  expect(await part('map').count()).toBe(1);
  await addBoth();
  await expect.poll(async () => Number(await map().getAttribute('data-points'))).toBe(2 * COUNT);
  // 700 m are shown, not the whole earth.
  await expect.poll(scale).toBeLessThan(2);
  await expect
    .poll(() => part('map-place').first().textContent())
    .toMatch(/gps \(drone-1\).*10\.0004.*179\.99801°.W · heading 84/);
  await expect.poll(() => part('gap-summary').textContent()).toContain('missing');
  await visit.screenshot('map');
  // The pointer finds the nearest place, and the charts show the same time.
  const readout = () => part('map-place').first().textContent();
  const newest = await readout();
  const box = await map().boundingBox();
  if (!box) throw new Error('no map');
  await visit.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await expect.poll(readout).not.toBe(newest);
});

it('is moved by pointer, wheel and keys, and shows all again', async () => {
  await addBoth();
  // Both tracks: one alone has another scale.
  await expect.poll(async () => Number(await map().getAttribute('data-points'))).toBe(2 * COUNT);
  await expect.poll(scale).toBeLessThan(2);
  await map().focus();
  // Once more, now that what is below the map has taken its room.
  await expect.poll(() => part('gap-summary').last().isVisible()).toBe(true);
  await visit.page.keyboard.press('0');
  const fitted = await scale();
  await visit.page.keyboard.press('+');
  await expect.poll(async () => (await scale()) / fitted).toBeLessThan(0.8);
  await visit.page.keyboard.press('ArrowRight');
  // The keys of the page have not changed the time.
  expect(await part('live').textContent()).toContain('Pause');
  await map().hover();
  await visit.page.mouse.wheel(0, 900);
  await expect.poll(async () => (await scale()) / fitted).toBeGreaterThan(1.25);
  await visit.page.mouse.down();
  await visit.page.mouse.move(300, 300, { steps: 3 });
  await visit.page.mouse.up();
  await visit.page.keyboard.press('0');
  await expect.poll(async () => Math.abs((await scale()) / fitted - 1)).toBeLessThan(0.2);
  await part('map-follow').last().selectOption({ label: 'gps (drone-2)' });
  await expect.poll(() => part('map-follow').last().inputValue()).toBe('1');
});

it('colors tracks by a metric of each', async () => {
  await addBoth();
  await part('map-color').last().selectOption({ label: 'speed' });
  await expect.poll(() => part('map-values').textContent()).toMatch(/0.*39\.9\u202fm\/s/);
  await expect.poll(() => part('map-place').last().textContent()).toContain('39.9\u202fm/s');
  await part('map-color').last().selectOption({ label: 'expression\u2026' });
  await part('expression').fill('"drone-1"/gps.speed * 2');
  await part('expression-done').click();
  await expect.poll(() => part('map-place').last().textContent()).toContain('79.8\u202fm/s');
});

it('keeps shapes of a file and the address of tiles in its layout', async () => {
  const seen: string[] = [];
  await visit.page.route('**/tiles/**', (route) => {
    seen.push(new URL(route.request().url()).pathname);
    return route.fulfill({ contentType: 'image/png', body: PICTURE });
  });
  await part('map-ground').click();
  const file = (name: string, content: string) => ({
    name,
    mimeType: 'application/json',
    buffer: Buffer.from(content),
  });
  await part('map-file').setInputFiles(file('bad.geojson', '{"type":"Topology"}'));
  await expect.poll(() => part('notice').textContent()).toContain('bad.geojson was not added: not GeoJSON');
  const fence = {
    type: 'Feature',
    properties: { name: 'Fence' },
    geometry: {
      type: 'LineString',
      coordinates: [
        [179.998, 10],
        [-179.999, 10.001],
      ],
    },
  };
  await part('map-file').setInputFiles(file('fence.geojson', JSON.stringify(fence)));
  await expect.poll(() => part('notice').textContent()).toContain('fence.geojson: 1 shapes added');
  await part('map-ground').click();
  await part('map-tiles').fill('//evil.example/{z}/{x}/{y}.png');
  await visit.page.keyboard.press('Enter');
  await expect.poll(() => part('map').textContent()).toContain('Write a path such as');
  await part('map-tiles').fill('/tiles/{z}/{x}/{y}.png');
  await visit.page.keyboard.press('Enter');
  await expect.poll(() => seen.length).toBeGreaterThan(0);
  expect(seen[0]).toMatch(/^\/tiles\/1\d\/\d+\/\d+\.png$/);
  // The browser keeps the layout a moment later.
  await expect
    .poll(() => visit.page.evaluate(() => localStorage.getItem('oasis.layout')))
    .toMatch(/Fence.*tiles/s);
  await visit.page.reload();
  await part('map-canvas').waitFor();
  await part('map-ground').click();
  expect(await part('map-tiles').inputValue()).toBe('/tiles/{z}/{x}/{y}.png');
  await part('map-shapes-remove').click();
  await expect.poll(() => part('map-shapes-remove').count()).toBe(0);
});

it('shows tiles of a server that the DAC allows, and says what to set for another one', async () => {
  const seen: string[] = [];
  await visit.page.route(/example\.(org|net)/, (route) => {
    seen.push(new URL(route.request().url()).host);
    return route.fulfill({ contentType: 'image/png', body: PICTURE });
  });
  const choose = async (address: string) => {
    // A panel that has changed shows its ground no more.
    if (!(await part('map-tiles').isVisible())) await part('map-ground').click();
    await part('map-tiles').fill(address);
    await visit.page.keyboard.press('Enter');
  };
  await choose('https://tile.example.org/{z}/{x}/{y}.png');
  await expect.poll(() => seen.length).toBeGreaterThan(0);
  expect(await part('map-tiles-failed').count()).toBe(0);
  expect(visit.complaints).toEqual([]);
  seen.length = 0;
  await choose('https://tile.example.net/{z}/{x}/{y}.png');
  await expect
    .poll(() => part('map-tiles-failed').textContent())
    .toContain('tile_origins = ["https://tile.example.net"]');
  await visit.screenshot('map-tiles-refused');
  expect(seen).toEqual([]);
  expect(visit.complaints.every((text) => /CSP|Content.Security.Policy/i.test(text))).toBe(true);
  visit.complaints.length = 0;
});
