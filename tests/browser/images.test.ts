import { randomUUID } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const CAMERA = {
  name: 'Plant::Camera',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [{ name: 'image', type: { blob: { media_type: 'image/png', max_bytes: 262_144 } } }],
};
const SIDE = 320;

const rig = new Rig(() => Oasis.dac({}, '--archive', temporaryFolder()));
const visits: Visit[] = [];
let node: PlainNode;

beforeAll(async () => {
  node = await PlainNode.start(rig.oasis.channel, 'gate', [
    { name: 'camera', schema: CAMERA },
    { name: 'hostile', schema: CAMERA },
    { name: 'past', schema: CAMERA },
  ]);
});

afterEach(async () => {
  for (const visit of visits.splice(0)) {
    expect(visit.complaints).toEqual([]);
    await visit.close();
  }
});

afterAll(() => node.stop());

/** An image of 100 kB in one shade of gray, which says which image it is. Its file is not compressed. */
function png(shade: number): Buffer {
  const rows = Buffer.alloc(SIDE * (SIDE + 1), shade);
  for (let row = 0; row < SIDE; row++) rows[row * (SIDE + 1)] = 0;
  return file(SIDE, SIDE, deflateSync(rows, { level: 0 }));
}

function file(width: number, height: number, content: Buffer): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 8;
  const chunk = (kind: string, body: Buffer) => {
    const checked = Buffer.concat([Buffer.from(kind), body]);
    const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(body.length);
    crc.writeUInt32BE(crc32(checked));
    return Buffer.concat([length, checked, crc]);
  };
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = [chunk('IHDR', head), chunk('IDAT', content), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([signature, ...chunks]);
}

/** A packed blob: its length, seven bits a byte, then the bytes. */
function blob(bytes: Buffer): Buffer {
  const length: number[] = [];
  for (let left = bytes.length; ; left >>= 7) {
    if (left < 0x80) return Buffer.concat([Buffer.from([...length, left]), bytes]);
    length.push((left & 0x7f) | 0x80);
  }
}

function send(instance: string, bytes: Buffer, dropped = 0, time = Date.now()): void {
  node.flush(instance, [time], [{ rows: [blob(bytes)] }], dropped);
}

async function open(instance: string): Promise<Visit> {
  const visit = await rig.visit(`#watch=gate/${instance}`);
  visits.push(visit);
  return visit;
}

const sequenceOf = ({ page }: Visit) => page.getByTestId('image-sequence').textContent();

/** The shade of the image that is drawn. */
const shadeOf = ({ page }: Visit) =>
  page.getByTestId('image-canvas').evaluate((canvas: HTMLCanvasElement) => {
    // A copy: the canvas of the page is drawn to, and never read.
    const copy = new OffscreenCanvas(1, 1).getContext('2d');
    copy?.drawImage(canvas, -(canvas.width >> 1), -(canvas.height >> 1));
    return copy?.getImageData(0, 0, 1, 1).data[0];
  });

it('shows the newest image of a camera on each page, and counts those that are missing', async () => {
  send('camera', png(10));
  const pages = [await open('camera'), await open('camera')];
  for (const visit of pages) {
    await expect.poll(() => sequenceOf(visit)).toBe('1');
    await expect.poll(() => shadeOf(visit)).toBe(10);
  }
  for (let number = 2; number <= 20; number++) send('camera', png(10 * number), number === 12 ? 3 : 0);
  for (const visit of pages) {
    await expect.poll(() => sequenceOf(visit)).toBe('23');
    await expect.poll(() => shadeOf(visit)).toBe(200);
    const { page } = visit;
    await expect.poll(() => page.getByTestId('gap-summary').textContent()).toContain('3 samples missing');
    expect(await page.getByTestId('image-kept').textContent()).toMatch(/^20 /);
    const name = await page.getByTestId('image-canvas').getAttribute('aria-label');
    expect(name).toMatch(/^Image image of camera.*, sample 23, .* old$/);
    expect(await page.getByTestId('image-age').textContent()).toMatch(/\d/);
  }
  await pages[0].screenshot('image');
});

it('says why it does not show what is no image, and never draws it', async () => {
  const hostile = [
    [
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'),
      'these bytes are not image/png',
    ],
    [file(65_535, 65_535, deflateSync(Buffer.alloc(100))), 'are too many'],
    [file(SIDE, SIDE, Buffer.from('no zlib')), 'the browser cannot decode it'],
    [Buffer.alloc(0), 'these bytes are not image/png'],
  ] as const;
  send('hostile', png(60));
  const visit = await open('hostile');
  await expect.poll(() => shadeOf(visit)).toBe(60);
  const problem = visit.page.getByTestId('image-problem');
  for (const [index, [bytes, why]] of hostile.entries()) {
    send('hostile', bytes);
    await expect.poll(() => problem.textContent()).toContain(`Sample ${index + 2} is not shown: `);
    expect(await problem.textContent()).toContain(why);
  }
  send('hostile', png(70));
  await expect.poll(() => shadeOf(visit)).toBe(70);
  await expect.poll(() => problem.count()).toBe(0);
  expect(await visit.page.locator('svg[onload]').count()).toBe(0);
});

it('shows images of the past, from its memory and from the archive', async () => {
  // A page begins with the newest ones.
  const count = 200;
  const start = Math.floor(Date.now() / 1000) * 1000 - count * 1000;
  for (let number = 1; number <= count; number++) send('past', png(number), 0, start + number * 1000 - 300);
  const visit = await open('past');
  const { page } = visit;
  await expect.poll(() => sequenceOf(visit)).toBe(String(count));
  const span = 60_000;
  await page.getByTestId('span').selectOption(String(span));
  const moveTo = async (number: number) => {
    await page.keyboard.press('j');
    const middle = start + number * 1000 - span / 2;
    const local = new Date(middle - new Date(middle).getTimezoneOffset() * 60_000).toISOString();
    await page.getByTestId('moment-field').fill(local.slice(0, 19));
    await page.getByTestId('moment-go').click();
  };
  const at = async (number: number) => {
    await moveTo(number);
    await expect.poll(() => sequenceOf(visit)).toBe(String(number));
    await expect.poll(() => shadeOf(visit)).toBe(number);
  };
  for (const number of [180, 120]) await at(number);
  // Far older than the newest ones: the DAC sends it. It searches by the time of arrival, which is that of all images here.
  await moveTo(7);
  await expect.poll(() => sequenceOf(visit)).toMatch(/^[1-7]$/);
  await expect.poll(async () => String(await shadeOf(visit)) === (await sequenceOf(visit))).toBe(true);
  expect(await page.getByTestId('image-age').textContent()).toMatch(/ s$/);
});
