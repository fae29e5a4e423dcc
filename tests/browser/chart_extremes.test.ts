import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

/** Values at the ends of their range: the axis is finite, true to its line, and names what it cannot show. */

const { MAX_VALUE, POSITIVE_INFINITY, NEGATIVE_INFINITY } = Number;
const COUNT = 56;
const SPECIAL = 30;

const wave = (index: number) => 2 + Math.sin(index / 5);
const wavy = (special: number) => (index: number) => (index === SPECIAL ? special : wave(index));

/** Values of each instance, and the labels that its axis must have. */
const CASES: Readonly<Record<string, { value(index: number): number; labels: readonly string[] }>> = {
  one_inf: { value: wavy(POSITIVE_INFINITY), labels: ['1.0', '2.0', '3.0', '\u221e'] },
  one_ninf: { value: wavy(NEGATIVE_INFINITY), labels: ['1.0', '2.0', '3.0', '\u2212\u221e'] },
  one_nan: { value: wavy(Number.NaN), labels: ['1.0', '2.0', '3.0'] },
  tiny: { value: (index) => [6.1e-101, 1.1e-97][index % 2], labels: ['0', '2e\u221298', '1.0e\u221297'] },
  denormal: { value: (index) => (1 + (index % 3)) * 5e-324, labels: ['0', '1.0e\u2212323'] },
  huge: { value: (index) => [1e300, 9e300][index % 2], labels: ['0', 'e300'] },
  max_min: { value: (index) => [MAX_VALUE, -MAX_VALUE][index % 2], labels: ['0', 'e308', '\u2212'] },
  offset_big: {
    value: (index) => 1e15 + (index % 3),
    labels: ['1 000 000 000 000 000', '1 000 000 000 000 001', '1 000 000 000 000 002'],
  },
  all_inf: { value: () => POSITIVE_INFINITY, labels: ['0', '1.0', '\u221e'] },
};

const rig = new Rig(() => Oasis.dac());
let node: PlainNode;
let visit: Visit | undefined;
let start: number;

beforeAll(async () => {
  const instances = Object.keys(CASES).map((name) => ({
    name,
    schema: {
      name: `Extreme::${name}`,
      uuid: randomUUID(),
      version: '1.0',
      metrics: [{ name: 'v', type: 'real64' }],
    },
    hertz: 1,
    kind: 'periodic' as const,
  }));
  node = await PlainNode.start(rig.oasis.channel, 'extremes', instances);
  start = Date.now() - (COUNT + 4) * 1000;
  const rows = Array.from({ length: COUNT }, (_, index) => index);
  for (const [name, { value }] of Object.entries(CASES))
    node.flush(
      name,
      rows.map((index) => start + index * 1000),
      [Float64Array.from(rows, value)],
    );
});

afterEach(async () => {
  expect(visit?.complaints ?? []).toEqual([]);
  await visit?.close();
  visit = undefined;
});

afterAll(() => node.stop());

/** Opens a dashboard, which is saved before. */
async function open(name: string, panels: readonly object[], more: object = {}): Promise<Visit> {
  const answer = await fetch(`${rig.oasis.url}/api/v1/layouts/${name}`, {
    method: 'PUT',
    body: JSON.stringify({
      oasis: 'layout',
      version: 1,
      panels,
      range: { live: true, span: 300_000 },
      ...more,
    }),
  });
  expect(answer.status).toBe(204);
  visit = await rig.visit(`/d/${name}`);
  return visit;
}

const chartOf = (instance: string) => ({
  id: 'p1',
  kind: 'series',
  mode: 'lines',
  sources: [{ target: { node: 'extremes', instance }, metrics: ['v'] }],
});

/** The texts of the drawing, with plain spaces. */
async function textsOf({ page }: Visit): Promise<string[]> {
  const saved = new Promise<string>((resolve) => {
    page.on('download', async (download) => {
      if (download.suggestedFilename().endsWith('.svg'))
        resolve(String(await readFile(await download.path())));
    });
  });
  await page.getByTestId('export-picture').click();
  const drawing = await saved;
  return [...drawing.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) =>
    text.replaceAll('\u202f', ' '),
  );
}

it.each(Object.entries(CASES))('draws %s on an axis of its own size', async (instance, { labels }) => {
  const opened = await open(instance, [chartOf(instance)]);
  const { page } = opened;
  await expect.poll(() => page.getByTestId('legend-value').textContent()).toMatch(/[\d\u221e]/);
  const texts = await textsOf(opened);
  for (const label of labels) expect(texts.some((text) => text.includes(label))).toBe(true);
  expect(new Set(texts).size).toBeGreaterThan(labels.length);
});

it('names an infinite value under the pointer, and shows the others', async () => {
  const [from, to] = [start - 2000, start + (COUNT + 2) * 1000];
  const { page } = await open('pointer', [chartOf('one_inf')], { range: { live: false, from, to } });
  const legend = page.getByTestId('legend-value');
  await expect.poll(() => legend.textContent()).toMatch(/^[123]\.\d+$/);
  const box = await page.locator('.chart:visible .u-over').first().boundingBox();
  if (!box) throw new Error('no chart');
  const place = (time: number) => box.x + ((time - from) / (to - from)) * box.width;
  await page.mouse.move(place(start + SPECIAL * 1000 + 400), box.y + 40);
  await expect.poll(() => legend.textContent()).toBe('\u221e');
  await page.mouse.move(place(start + (SPECIAL + 2) * 1000 + 400), box.y + 40);
  await expect.poll(() => legend.textContent()).toMatch(/^[123]\.\d+$/);
});

it('shows the extremes of a distribution, a gauge, a number and a trace', async () => {
  const target = { node: 'extremes', instance: 'one_inf' };
  const v = 'extremes/one_inf.v';
  const tiny = 'extremes/tiny.v';
  const panels = [
    { id: 'p1', kind: 'histogram', target, metric: 'v' },
    { id: 'p2', kind: 'gauge', target: { ...target, instance: 'tiny' }, metric: 'v' },
    { id: 'p3', kind: 'number', expressions: [v] },
    { id: 'p4', kind: 'xy', expressions: [tiny, v] },
    { id: 'p5', kind: 'statistics', expressions: [v, 'extremes/max_min.v'] },
  ];
  const leaf = (id: string) => ({ type: 'leaf', size: 300, data: { id, views: [id] } });
  const root = { type: 'branch', size: 600, data: panels.map(({ id }) => leaf(id)) };
  const geometry = { grid: { root, width: 1400, height: 800, orientation: 'HORIZONTAL' }, panels: {} };
  const { page } = await open('panels', panels, { geometry });
  const text = (testId: string) => page.getByTestId(testId).first().textContent();
  await expect.poll(() => page.getByTestId('histogram').textContent()).toMatch(/\u221e1(?!\d)/);
  await expect.poll(() => page.locator('.dial-end').last().textContent()).toMatch(/e\u2212\d+$/);
  await expect.poll(() => text('number')).toContain('\u221e');
  await expect.poll(() => text('xy-readout')).toContain('e\u2212');
  await expect.poll(() => text('statistics')).toContain('\u221e');
});

it('opens a dashboard whose places are hostile', async () => {
  let root: unknown = { type: 'leaf', data: { id: 'x', views: ['p1'] } };
  for (let level = 0; level < 50; level++)
    root = { type: 'branch', data: [root, { type: 'leaf', data: null }] };
  const hostile: readonly object[] = [
    { grid: { root, width: 1, height: 'x' }, panels: {} },
    {
      grid: {
        root: {
          type: 'branch',
          data: [{ type: 'leaf', data: { id: 'a', views: ['p1', 'p1', 'q'] } }, null, 7],
        },
      },
      panels: { p1: { title: {} }, q: null },
    },
    {
      grid: { root: { type: 'branch', data: [{ type: 'leaf', data: { id: 7 } }] } },
      panels: null,
      floatingGroups: 7,
    },
    { grid: { root: { type: 'branch', data: 'x' } }, popoutGroups: [{ data: {}, url: 'about:blank' }] },
  ];
  const plain = await open('plain', [chartOf('one_nan')]);
  await plain.close();
  for (const [index, geometry] of hostile.entries()) {
    const { page, complaints } = await open(
      `hostile-${index}`,
      [chartOf('one_nan'), { ...chartOf('tiny'), id: 'p2' }],
      { geometry },
    );
    await expect.poll(() => page.locator('.dv-default-tab-content').count()).toBe(2);
    // Other panels take their places, and these go away.
    await page.goto(`${rig.oasis.url}/d/plain`);
    await expect.poll(() => page.locator('.dv-default-tab-content').count()).toBe(1);
    expect(complaints).toEqual([]);
    await visit?.close();
  }
  visit = undefined;
});
