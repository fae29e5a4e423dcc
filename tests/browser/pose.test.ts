import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode, vectors } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const real = (name: string, unit?: string) => ({ name, type: 'real64', ...(unit && { unit }) });
const POSITION = {
  name: 'vehicle_local_position',
  uuid: randomUUID(),
  version: '1.0',
  metrics: ['x', 'y', 'z'].map((name) => real(name, 'm')),
};
const ATTITUDE = {
  name: 'vehicle_attitude',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [{ name: 'q', type: { vector: 'real64' } }],
};
const FAR = {
  name: 'Far',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    ...['x', 'y', 'z'].map((name) => real(name, 'm')),
    ...['qx', 'qy', 'qz', 'qw'].map((name) => real(name)),
  ],
};
const COUNT = 400;
const PERIOD_MS = 100;
const LOST = 20;

const rig = new Rig(() => Oasis.dac());
let node: PlainNode;
let visit: Visit;

/** A drone climbs in circles for 40 s: three positions are not finite, and 20 samples are missing. */
beforeAll(async () => {
  node = await PlainNode.start(rig.oasis.channel, 'drone-7', [
    { name: 'vehicle_local_position', schema: POSITION, hertz: 10 },
    { name: 'vehicle_attitude', schema: ATTITUDE, hertz: 10 },
    { name: 'far', schema: FAR, hertz: 10 },
  ]);
  const start = Date.now() - 45_000;
  const angleAt = (row: number) => row / 30;
  for (const first of [0, COUNT / 2]) {
    const rows = Array.from({ length: COUNT / 2 }, (_, index) => first + index);
    const lost = first === 0 ? 0 : LOST;
    const times = rows.map((row) => start + (row + lost) * PERIOD_MS);
    const xs = Float64Array.from(rows, (row) => 10 * Math.cos(angleAt(row)));
    if (first === 0) [xs[50], xs[51], xs[90]] = [Number.NaN, Number.POSITIVE_INFINITY, Number.NaN];
    node.flush(
      'vehicle_local_position',
      times,
      [
        xs,
        Float64Array.from(rows, (row) => 10 * Math.sin(angleAt(row))),
        Float64Array.from(rows, (row) => -row / 40),
      ],
      lost,
    );
    // Yaw alone, with w first and length 2.
    const turns = rows.map((row) => {
      const half = row === COUNT - 1 ? Math.PI / 8 : angleAt(row) / 2;
      return [2 * Math.cos(half), 0, 0, 2 * Math.sin(half)];
    });
    node.flush('vehicle_attitude', times, [vectors(turns)], lost);
    // A step of 1 m each, at 1e15 m.
    const far = (add: (row: number) => number) => Float64Array.from(rows, add);
    const zeros = new Float64Array(rows.length);
    node.flush('far', times, [far((row) => 1e15 + row), zeros, zeros, zeros, zeros, zeros, zeros], lost);
  }
});

afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

afterAll(() => node.stop());

const part = (testId: string): Locator => visit.page.getByTestId(testId);
const stage = () => part('pose-stage');
const datum = async (name: string) => Number(await stage().getAttribute(`data-${name}`));
const figures = () => part('pose-entry').locator('.pose-figures').allTextContents();

async function open(...instances: string[]): Promise<void> {
  visit = await rig.visit('', { viewport: { width: 1366, height: 900 } });
  // Tests before this one took their time.
  await part('span').selectOption({ label: '5 min' });
  await add(...instances);
}

async function add(...instances: string[]): Promise<void> {
  await part('open-add').click();
  await part('kind-pose').locator('..').click();
  for (const instance of instances) await part(`pick-${instance}-`).check();
  await part('add-panel').click();
}

/** Counts the pixels of a picture that have about the color of an axis or of the trail. */
async function coloredPixels(): Promise<{ red: number; green: number; blue: number; trail: number }> {
  const picture = (await stage().screenshot()).toString('base64');
  return await visit.page.evaluate(async (data) => {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const ctx = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    if (!ctx) throw new Error('no canvas');
    ctx.drawImage(bitmap, 0, 0);
    // The lower left corner has axes of its own.
    const { data: pixels } = ctx.getImageData(90, 0, bitmap.width - 90, bitmap.height);
    const series = getComputedStyle(document.documentElement).getPropertyValue('--series-0').trim();
    const wanted = { red: '#e5484d', green: '#30a46c', blue: '#3e7bfa', trail: series };
    const parts = Object.entries(wanted).map(
      ([name, color]) => [name, [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))] as const,
    );
    const found = { red: 0, green: 0, blue: 0, trail: 0 };
    for (let at = 0; at < pixels.length; at += 4)
      for (const [name, color] of parts)
        if (color.every((value, index) => Math.abs(pixels[at + index] - value) < 24))
          found[name as keyof typeof found]++;
    return found;
  }, picture);
}

it('draws position and attitude of PX4, and says them in words', async () => {
  await open('vehicle_local_position', 'vehicle_attitude');
  await expect.poll(() => datum('points')).toBe(COUNT - 3);
  await expect
    .poll(async () => (await figures())[0])
    .toMatch(/^x 7\.\d+\s?m, y 6\.\d+\s?m, z −9\.97\d*\s?m$/);
  expect((await figures())[1]).toMatch(
    /^roll 0\.0.°, pitch 0\.0.°, yaw 45\.0.° \(quaternion of length 2, normalized\)$/,
  );
  expect(await part('pose-problem').allTextContents()).toEqual([
    'vehicle_local_position: 3 samples have no finite position.',
  ]);
  expect(await part('pose-orders').textContent()).toContain('w = q[0], x = q[1], y = q[2], z = q[3]');
  await expect.poll(() => part('pose').getByTestId('gap-summary').textContent()).toContain('missing');
  expect(await part('pose-up').inputValue()).toBe('down');
  const age = part('pose').getByTestId('footer-age').first();
  await expect.poll(() => age.textContent()).toContain('Age');
  await expect.poll(async () => (await coloredPixels()).trail).toBeGreaterThan(20);
  const { red, green, blue } = await coloredPixels();
  expect(Math.min(red, green, blue)).toBeGreaterThan(20);
  await visit.screenshot('pose');
});

it('is turned, moved and fitted by keys, pointer and wheel, and draws only what has changed', async () => {
  await open('vehicle_local_position', 'vehicle_attitude');
  await expect.poll(() => datum('points')).toBe(COUNT - 3);
  await expect.poll(() => datum('distance')).toBeGreaterThan(10);
  await part('live').click();
  await stage().focus();
  await visit.page.keyboard.press('0');
  const [fitted, azimuth] = [await datum('distance'), await datum('azimuth')];
  await visit.page.keyboard.press('ArrowRight');
  await expect.poll(() => datum('azimuth')).not.toBe(azimuth);
  await visit.page.keyboard.press('+');
  await expect.poll(async () => (await datum('distance')) / fitted).toBeLessThan(0.8);
  await stage().hover();
  await visit.page.mouse.wheel(0, 900);
  await expect.poll(async () => (await datum('distance')) / fitted).toBeGreaterThan(1.2);
  const turned = await datum('azimuth');
  await visit.page.mouse.down();
  await visit.page.mouse.move(500, 300, { steps: 3 });
  await visit.page.mouse.up();
  await expect.poll(() => datum('azimuth')).not.toBe(turned);
  await part('pose-fit').click();
  await expect.poll(async () => Math.abs((await datum('distance')) / fitted - 1)).toBeLessThan(0.01);
  // The pointer is elsewhere, and the time shown stands still: so does the drawing.
  const idle = await visit.page.evaluate(async () => {
    const frames = () => document.querySelector<HTMLElement>('[data-testid=pose-stage]')?.dataset.frames;
    const wait = async (count: number) => {
      for (let frame = 0; frame < count; frame++) await new Promise(requestAnimationFrame);
    };
    await wait(5);
    const before = frames();
    await wait(60);
    return [before, frames()];
  });
  expect(idle[0]).toBe(idle[1]);
});

it('keeps differences at 1e15 apart, and says a quaternion that is 0', async () => {
  await open('far');
  await expect.poll(() => datum('points')).toBe(COUNT);
  await expect
    .poll(figures)
    .toEqual([
      expect.stringMatching(/^x 1.000.000.000.000.399.?m, y 0.?m, z 0.?m$/),
      'no attitude: the quaternion is 0',
    ]);
  await expect.poll(() => datum('distance')).toBeLessThan(1000);
  await expect.poll(async () => (await coloredPixels()).trail).toBeGreaterThan(20);
  await visit.screenshot('pose-far');
});

it('leaves the page as a table with all digits and as a picture', async () => {
  await open('far');
  await expect.poll(() => datum('points')).toBe(COUNT);
  const files = new Map<string, string>();
  visit.page.on('download', async (download) => {
    files.set(
      download.suggestedFilename().replace(/^.*\./, ''),
      await readFile(await download.path(), 'utf8'),
    );
  });
  await part('pose-legend').click();
  await part('export-csv').click();
  const table = () => files.get('csv') ?? '';
  await expect.poll(table).toMatch(/^\W*time,instance,x \[m\],y \[m\],z \[m\],qx,qy,qz,qw\r\n/);
  expect(table()).toMatch(/,far,1000000000000399,0,0,0,0,0,0/);
  await part('export-picture').click();
  // The trail, the ground and their words.
  await expect.poll(() => files.get('svg')).toMatch(/<path.*Grid of 50/s);
});

it('comes back with its layout, after its metrics were changed by hand', async () => {
  await open('vehicle_local_position');
  await expect.poll(() => datum('points')).toBe(COUNT - 3);
  await part('pose-metrics').click();
  for (const [index, element] of [1, 2, 3, 0].entries())
    await part(`pose-field-${3 + index}`).fill(`vehicle_attitude.q[${element}]`);
  await part('pose-field-2').fill('vehicle_local_position.z * 2');
  await part('pose-done').click();
  await expect.poll(async () => (await figures())[0]).toMatch(/z −19\.9/);
  await part('pose-up').selectOption('y');
  await part('pose-trail').selectOption({ label: '30 s' });
  // The browser keeps the layout a moment later.
  const stored = () => visit.page.evaluate(() => localStorage.getItem('oasis.layout') ?? '');
  for (const member of ['"attitude":[', '"up":"y"', '"trail":30'])
    await expect.poll(stored).toContain(member);
  await visit.page.reload();
  await part('span').selectOption({ label: '5 min' });
  await expect.poll(() => datum('points')).toBe(COUNT - 3);
  expect(await part('pose-up').inputValue()).toBe('y');
  expect(await part('pose-trail').inputValue()).toBe('30');
  await expect.poll(async () => (await figures())[1]).toMatch(/yaw 45\.0.°/);
});

it('draws again after the browser has ended the drawing', async () => {
  await open('vehicle_local_position');
  await expect.poll(() => datum('points')).toBe(COUNT - 3);
  await stage()
    .locator('canvas')
    .first()
    .evaluate((canvas: HTMLCanvasElement) =>
      canvas.getContext('webgl2')?.getExtension('WEBGL_lose_context')?.loseContext(),
    );
  await part('pose-lost').getByRole('button').click();
  await expect.poll(() => stage().getAttribute('data-state')).toBe('drawn');
  await expect.poll(async () => (await coloredPixels()).trail).toBeGreaterThan(20);
});

it('has the values on a phone, in dark colors', async () => {
  await open('vehicle_local_position', 'vehicle_attitude', 'far');
  await part('toggle-theme').click();
  await visit.page.setViewportSize({ width: 390, height: 844 });
  await expect.poll(() => part('pose-entry').count()).toBe(2);
  await expect.poll(() => datum('points')).toBe(2 * COUNT - 3);
  const box = await part('pose').boundingBox();
  expect(box && box.x >= 0 && box.x + box.width <= 390).toBe(true);
  const wide = await visit.page.evaluate(() => document.documentElement.scrollWidth);
  expect(wide).toBeLessThanOrEqual(390);
  await visit.screenshot('pose-phone');
});

it('says without WebGL what to do, and shows the values', async () => {
  visit = await rig.visit('', { viewport: { width: 1366, height: 900 } });
  await visit.page.addInitScript(() => {
    const original = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (this: HTMLCanvasElement, ...given: unknown[]) {
      return given[0] === 'webgl2' ? null : Reflect.apply(original, this, given);
    } as typeof original;
  });
  await visit.page.reload();
  await part('span').selectOption({ label: '5 min' });
  await add('vehicle_local_position');
  await expect.poll(() => part('pose-no-webgl').textContent()).toContain('Turn on hardware acceleration');
  await expect.poll(async () => (await figures())[0]).toMatch(/^x 7\.\d+/);
  await stage().focus();
  await visit.page.keyboard.press('ArrowRight');
  await part('pose-fit').click();
  await visit.screenshot('pose-no-webgl');
});
